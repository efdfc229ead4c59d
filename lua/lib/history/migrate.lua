-- Moves the field `history` of a job, which versions before the list wrote, into the list. A field that
-- does not parse stays as it is. A call may have read the same job several times; only the first move counts.
-- Takes: jid; the field

-- Returns a time in whole seconds, nil if it is not a number.
local function moment(value)
  local n = tonumber(value)
  if n and n - n == 0 then return math.floor(n) end
end

return function(jid, text)
  local ok, old = pcall(cjson.decode, text)
  if not ok or type(old) ~= 'table' then return end
  if redis.call('hget', Keys.job .. jid, 'history') ~= text then return end
  local entries = {}
  local function add(...) entries[#entries + 1] = cjson.encode({...}) end
  for _, item in ipairs(old) do
    if type(item) == 'table' then
      local put, popped = moment(item.put), moment(item.popped)
      local failed, done = moment(item.failed), moment(item.done)
      if put then add(put, 'put', {q = tostring(item.q or '')}) end
      if popped then add(popped, 'popped', {worker = tostring(item.worker or '')}) end
      if failed then add(failed, 'failed') end
      if done then add(done, 'done') end
    end
  end
  local key = Keys.job .. jid
  for i = 1, #entries do redis.call('rpush', key .. Keys.history, entries[i]) end
  redis.call('hdel', key, 'history')
end
