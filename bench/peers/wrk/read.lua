-- Point reads of random existing rows. Env:
--   WRK_PATH  path with {i} where the row number goes, or {i14} to pad it to 14 digits
--             (default /listings?listingId=bench-{i})
--   ROWS      how many rows the server holds (default 100000)
--   WRK_WANT  text that each answer must hold (default "listingId", with the quotes)
--   WRK_KEY   an API key to send (default none)
--   WRK_LIB   folder of report.lua
dofile((os.getenv("WRK_LIB") or ".") .. "/report.lua")
wanted = os.getenv("WRK_WANT") or '"listingId"'

local rows = tonumber(os.getenv("ROWS") or 100000)
local before, width, after

function init()
  -- Each thread has its own Lua state: without its own seed all would ask the same rows.
  math.randomseed(os.time() + 7919 * thread_number)
  -- The request is formatted once and cut at the placeholder, to keep wrk's share small.
  local headers = { ["X-API-Key"] = os.getenv("WRK_KEY") }
  local whole = wrk.format("GET", os.getenv("WRK_PATH") or "/listings?listingId=bench-{i}", headers)
  before, width, after = whole:match("^(.-){i(%d*)}(.*)$")
  width = "%0" .. (width == "" and "1" or width) .. "d"
end

function request()
  return before .. string.format(width, math.random(0, rows - 1)) .. after
end
