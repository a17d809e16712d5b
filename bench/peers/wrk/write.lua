-- One new listing per request. Env:
--   WRK_PATH  where to POST (default /listings)
--   WRK_BODY  JSON body in which {id}, {user} and {n} are filled in (default: below)
--   WRK_RUN   text that makes the ids of this run its own (default the time)
--   ROWS      sets how many users the rows belong to (default 100000)
--   WRK_KEY   an API key to send (default none)
--   WRK_LIB   folder of report.lua
dofile((os.getenv("WRK_LIB") or ".") .. "/report.lua")

local path = os.getenv("WRK_PATH") or "/listings"
local run = os.getenv("WRK_RUN") or tostring(os.time())
local users = math.max(1, math.floor(tonumber(os.getenv("ROWS") or 100000) / 20))
local headers = { ["Content-Type"] = "application/json" }
headers["X-API-Key"] = os.getenv("WRK_KEY")
local body = os.getenv("WRK_BODY") or [[{"listingId":"{id}","userId":"{user}",]]
  .. [["streetAddress":"{n} Maple Avenue Apt 12","city":"Seattle","state":"WA",]]
  .. [["postalCode":"98101","monthlyRent":2450,"bedRoomCount":3,"bathroomCount":2}]]
local n = 0
local before, after
local texts, names, values, pieces = {}, {}, {}, {}

-- Head and body are cut at what changes, once, to keep wrk's share small.
function init()
  before, after = wrk.format("POST", path, headers, ""):match("^(.-Content%-Length: )0(.*)$")
  for text, name in (body .. "{}"):gmatch("(.-){(%l*)}") do
    texts[#texts + 1] = text
    names[#names + 1] = name
  end
end

function request()
  n = n + 1
  values.id = "new-" .. run .. "-" .. thread_number .. "-" .. n
  values.user = "user-" .. n % users
  values.n = n
  for i = 1, #texts do
    pieces[2 * i - 1] = texts[i]
    pieces[2 * i] = values[names[i]] or ""
  end
  local filled = table.concat(pieces)
  return before .. #filled .. after .. filled
end
