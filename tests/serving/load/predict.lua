-- For wrk: POST /v1/predict with inputs that change from request to request. The environment says which model: FOVEA_LOAD_MODEL.
local model = os.getenv("FOVEA_LOAD_MODEL") or ""
local months = {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"}

local function date()
  return string.format('"%d %s %d"', math.random(28), months[math.random(12)], math.random(1900, 2050))
end

local function row()
  local cells = {}
  for column = 1, 10 do cells[column] = string.format('"x%d":%.4f', column - 1, math.random() * 2 - 1) end
  return "{" .. table.concat(cells, ",") .. "}"
end

local input = {dates = date, features = row}

function request()
  local body = string.format('{"model":"%s","input":%s}', model, input[model]())
  return wrk.format("POST", "/v1/predict", {["Content-Type"] = "application/json"}, body)
end

-- wrk counts statuses of 400 and above as errors by itself; the summary is one line of JSON.
function done(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format('{"requests_per_second": %.0f, "p50_ms": %.2f, "p99_ms": %.2f, "requests": %d, "not_2xx": %d, "connect": %d, ' ..
                         '"read": %d, "write": %d, "timeout": %d}\n',
                         summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
                         summary.requests, errors.status, errors.connect, errors.read, errors.write, errors.timeout))
end
