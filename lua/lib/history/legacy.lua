-- Reads the field `history` of a job, which older versions wrote before the history was a list.
-- Takes: the field
-- Result: entries for the list, or nil if the field holds no list; whether the reference core can read all of it

-- A time in whole seconds, nil if it is not a number.
local function moment(value)
  local n = tonumber(value)
  if n and n - n == 0 then return math.floor(n) end
end

-- A stored name as text, `''` if it is neither text nor number; and whether an entry can hold it.
local function name(value)
  local kind = type(value)
  if kind == 'string' then return value, true end
  return kind == 'number' and '' .. value or '', (pcall(cjson.encode, value))
end

return function(text)
  local ok, old = pcall(cjson.decode, text)
  if not ok or type(old) ~= 'table' then return nil, false end
  local entries, whole = {}, true
  for _, item in ipairs(old) do
    if type(item) == 'table' then
      local times = {put = moment(item.put)}
      whole = whole and times.put
      for _, what in ipairs({'popped', 'failed', 'done'}) do
        times[what] = item[what] and moment(item[what])
        if item[what] and not times[what] then whole = false end
      end
      local queue, queue_fits = name(item.q)
      local worker, worker_fits = name(item.worker)
      whole = whole and queue_fits and (worker_fits or not times.popped)
      local function add(what, detail)
        if times[what] then entries[#entries + 1] = cjson.encode({times[what], what, detail}) end
      end
      add('put', {q = queue})
      add('popped', {worker = worker})
      add('failed')
      add('done')
    else
      whole = false
    end
  end
  return entries, whole and true
end
