-- The history list of a job: how long it may grow, and entries of versions before the list.
local call = redis.call
local History = {}

-- Returns the limit that a stored setting stands for: 100 where it is absent or no number.
function History.limit(text)
  local n = tonumber(text)
  if not n or n - n ~= 0 then return 100 end
  return math.floor(n)
end

-- Reads the limit.
function History.read_limit()
  return History.limit(call('hget', Keys.config, 'max-job-history'))
end

-- Shortens a list to `limit` entries: the first one ever and the newest. 0 and less: no limit.
function History.trim(key, length, limit)
  if limit <= 0 or length <= limit then return end
  if limit == 1 then
    call('ltrim', key, -1, -1)
    return
  end
  local first = call('lpop', key)
  call('ltrim', key, 1 - limit, -1)
  call('lpush', key, first)
end

-- Appends an entry to the list of a job, and trims. `limit` nil: read it when it may matter.
function History.append(jid, entry, limit)
  local key = Keys.job .. jid .. Keys.history
  local length = call('rpush', key, entry)
  if length > 1 then History.trim(key, length, limit or History.read_limit()) end
end

-- Returns a moment in whole seconds, or nil if it is none.
local function moment(value)
  local n = tonumber(value)
  if n and n - n == 0 then return math.floor(n) end
end

-- Moves the field `history`, as versions before the list kept it, into the list. A field that
-- does not parse stays as it is.
function History.migrate(jid, text)
  local ok, old = pcall(cjson.decode, text)
  if not ok or type(old) ~= 'table' then return end
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
  for i = 1, #entries do call('rpush', key .. Keys.history, entries[i]) end
  call('hdel', key, 'history')
end

return History
