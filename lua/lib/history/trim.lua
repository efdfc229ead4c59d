-- Shortens a history to `limit` entries: the first one and the newest ones. With limit 1, only the newest stays. A
-- limit of 0 or less means no limit.
-- Takes: key length limit
return function(key, length, limit)
  local call = redis.call
  limit = math.floor(limit)
  if limit <= 0 or length <= limit then return end
  if limit == 1 then
    call('ltrim', key, -1, -1)
    return
  end
  local first = call('lpop', key)
  call('ltrim', key, 1 - limit, -1)
  call('lpush', key, first)
end
