-- Shared by read.lua and write.lua: counts answers that are not 2xx and prints one line.
--   RESULT <TAB> peer <TAB> operation <TAB> requests_per_second <TAB> p50_ms <TAB> p99_ms <TAB> errors
-- Only 2xx answers count as requests. Env: WRK_PEER and WRK_OP name the line.

local threads = {}

function setup(thread)
  thread:set("thread_number", #threads)
  table.insert(threads, thread)
end

-- wrk itself only counts 4xx and 5xx, and would take a redirect for a success.
bad_status = 0
function response(status)
  if status < 200 or status > 299 then bad_status = bad_status + 1 end
end

function done(summary, latency)
  local bad = 0
  for _, thread in ipairs(threads) do bad = bad + thread:get("bad_status") end
  local e = summary.errors
  print(string.format("RESULT\t%s\t%s\t%.0f\t%.2f\t%.2f\t%d",
    os.getenv("WRK_PEER") or "server", os.getenv("WRK_OP") or "request",
    (summary.requests - bad) / (summary.duration / 1e6),
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    bad + e.connect + e.read + e.write + e.timeout))
end
