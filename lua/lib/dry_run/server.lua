-- Creates the replacement of `redis` for a dry run: the call sees its own writes, but the server gets none. Of a list
-- that is written, only the length changes. Nothing is published.
-- Result: a table of `call`, `pcall` and `sha1hex`
-- Refuses: a command that it does not know

local sizes = {hash = 'hlen', set = 'scard', list = 'llen', plain = 'exists', zset = 'zcard'}
local reads = {hget = 1, hmget = 1, sismember = 1, scard = 1, smembers = 1, llen = 1, lrange = 1, get = 1, zscore = 1,
  zcard = 1, zcount = 1, zrange = 1, zrevrange = 1, zrangebyscore = 1, zrevrangebyscore = 1, zrank = 1}

return function()
  local dry, changed, operations, kinds = {sha1hex = redis.sha1hex}, {}, {}, {}
  local function run(real, name, key, ...)
    if name == 'publish' then return 0 end
    if name == 'exists' or name == 'del' then
      local count = 0
      for _, each in ipairs({key, ...}) do
        local entry = changed[each]
        count = count + (entry and math.min(entry.size, 1) or not entry and real('exists', each))
        if name == 'del' then changed[each] = {size = 0} end
      end
      return count
    end
    local kind, entry = kinds[name], changed[key]
    if not kind then error('Dry run: unknown command ' .. name) end
    if not entry and reads[name] then return real(name, key, ...) end
    if not entry or entry.kind ~= kind then
      -- Read the size first. If the key has a wrong type, this read gives the error that the command would give.
      local size = entry and 0 or real(sizes[kind], key)
      if type(size) ~= 'number' then return size end
      entry = {kind = kind, size = size, server = size > 0, values = {}}
      changed[key] = entry
    end
    return operations[name](entry, key, ...)
  end
  function dry.call(...) return run(redis.call, ...) end
  function dry.pcall(...) return run(redis.pcall, ...) end
  local types = need('dry_run/fields')()
  types.zset = need('dry_run/zset')(dry)
  for kind, names in pairs(types) do
    for name, operation in pairs(names) do operations[name], kinds[name] = operation, kind end
  end
  return dry
end
