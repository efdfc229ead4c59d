-- Reads the dependencies or the dependents of a job.
-- Takes: key of the set
-- Returns: up to 1000 members, and the number of all; nil if the key is not a set
return function(c)
  return function(key)
    local count, wrong = c.ask('scard', key)
    if wrong then
      c.wrong_type(key, 'set')
      return nil
    end
    if count <= 1000 then return count > 0 and redis.call('smembers', key) or {}, count end
    c.add('not-judged', string.sub(key, #Keys.prefix + 1), 'more than 1000 dependencies')
    local page = redis.pcall('sscan', key, 0, 'COUNT', 1000)
    return page[2] or {}, count
  end
end
