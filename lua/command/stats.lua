-- The statistics of a queue on the day of `date`, as JSON.
-- Takes: queue date
-- Refuses: a date that is not a number
local Counters = Fields('retries', 'failed', 'failures')

local call = redis.call

-- The number in a text; 0 if the text is not a finite number.
local function number_or_zero(text)
  local n = tonumber(text)
  return n and n - n == 0 and n or 0
end

-- Statistics of durations as JSON: count, mean, standard deviation, and a histogram of 148 slots. These are 60 of a
-- second, 59 of a minute, 23 of an hour and 6 of a day.
local function duration_stats(key)
  local all, fields, places, values = call('hgetall', key), {}, {}, {}
  for i = 1, #all, 2 do
    local unit, digits = string.match(all[i], '^([smhd])(%d+)$')
    local n, place = tonumber(digits), nil
    if unit == 's' and n < 60 then
      place = n
    elseif unit == 'm' and n > 0 and n < 60 then
      place = 59 + n
    elseif unit == 'h' and n > 0 and n < 24 then
      place = 118 + n
    elseif unit == 'd' and n > 0 and n < 7 then
      place = 141 + n
    end
    if place then
      places[#places + 1] = place
      values[place] = number_or_zero(all[i + 1])
    else
      fields[all[i]] = all[i + 1]
    end
  end
  table.sort(places)
  local parts, last = {}, -1
  for i = 1, #places do
    parts[#parts + 1] = string.rep('0,', places[i] - last - 1) .. values[places[i]] .. ','
    last = places[i]
  end
  local count = number_or_zero(fields.total)
  local deviation = count > 1 and math.sqrt(math.max(0, number_or_zero(fields.vk)) / (count - 1)) or 0
  local slots = table.concat(parts) .. string.rep('0,', 147 - last)
  return '{"count":' .. count .. ',"mean":' .. number_or_zero(fields.mean) .. ',"std":' .. deviation ..
    ',"histogram":[' .. string.sub(slots, 1, -2) .. ']}'
end

return function(argv)
  local queue, date = argv[3], tonumber(argv[4])
  if not queue then error('Queue(): no queue name provided') end
  if not date or date - date ~= 0 then
    error('Stats(): Arg "date" missing or not a number: ' .. tostring(argv[4]))
  end
  local day = date - date % 86400 .. ':' .. queue
  local counts = call('hmget', Keys.stats .. day, unpack(Counters))
  return '{"retries":' .. number_or_zero(counts[Counters.retries]) ..
    ',"failed":' .. number_or_zero(counts[Counters.failed]) ..
    ',"failures":' .. number_or_zero(counts[Counters.failures]) ..
    ',"wait":' .. duration_stats(Keys.wait .. day) .. ',"run":' .. duration_stats(Keys.run .. day) .. '}'
end, true
