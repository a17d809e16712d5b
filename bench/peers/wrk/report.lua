-- Shared by read.lua and write.lua: counts wrong answers and prints one line.
--   RESULT <TAB> peer <TAB> operation <TAB> requests_per_second <TAB> p50_ms <TAB> p99_ms <TAB> errors
-- Only right answers count as requests. Env: WRK_PEER and WRK_OP name the line; WRK_LOOK says that every
-- answer is looked at, for which wrk makes a table of its headers and a copy of its body. So a run that
-- measures comes after one that looks, and leaves it to wrk to count what failed.

local threads = {}

function setup(thread)
  thread:set("thread_number", #threads)
  table.insert(threads, thread)
end

-- wrk itself only counts 4xx and 5xx, and would take a redirect or an empty list for a success.
bad_answers = 0
wanted = nil -- text that every body must hold
if os.getenv("WRK_LOOK") then
  function response(status, _, body)
    if status < 200 or status > 299 or (wanted and not body:find(wanted, 1, true)) then
      bad_answers = bad_answers + 1
    end
  end
end

function done(summary, latency)
  local bad = summary.errors.status
  if os.getenv("WRK_LOOK") then
    bad = 0
    for _, thread in ipairs(threads) do bad = bad + thread:get("bad_answers") end
  end
  local e = summary.errors
  print(string.format("RESULT\t%s\t%s\t%.0f\t%.2f\t%.2f\t%d",
    os.getenv("WRK_PEER") or "server", os.getenv("WRK_OP") or "request",
    (summary.requests - bad) / (summary.duration / 1e6),
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    bad + e.connect + e.read + e.write + e.timeout))
end
