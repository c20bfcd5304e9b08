-- For wrk: requests the paths in the file BENCH_PATHS in turn with the key BENCH_KEY, and prints the results as JSON.
local requests, position, pause = {}, 0, 0

function init()
  wrk.headers["Authorization"] = "Bearer " .. os.getenv("BENCH_KEY")
  if os.getenv("BENCH_ETAG") ~= "" then wrk.headers["If-None-Match"] = os.getenv("BENCH_ETAG") end
  if os.getenv("BENCH_ENCODING") ~= "" then wrk.headers["Accept-Encoding"] = os.getenv("BENCH_ENCODING") end
  pause = tonumber(os.getenv("BENCH_PAUSE_MS"))
  if pause > 0 then delay = random_pause end
  for path in io.lines(os.getenv("BENCH_PATHS")) do
    requests[#requests + 1] = wrk.format("GET", path)
  end
  position = tonumber(os.getenv("BENCH_START")) % #requests
end

-- Independent clients: pauses in whole milliseconds, exponentially distributed, with BENCH_PAUSE_MS as their mean.
function random_pause()
  return math.floor(0.5 - pause * math.log(1 - math.random()))
end

function request()
  position = position % #requests + 1
  return requests[position]
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('\n{"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"failed":%d}\n', summary.requests,
    summary.duration / 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000, failed))
end
