-- Checks a key by its name: its type, its expiry, and that the owner of the key exists.
-- Takes: name without the prefix
return function(check)
  local kind_of = need('key/kind')
  local sizes = {string = 'strlen', list = 'llen', set = 'scard', zset = 'zcard', hash = 'hlen'}

  -- Checks a companion key of a job, such as its history: the job must exist.
  local function companion(name, key, owner, part)
    if part == 'payloads' then return check.need('key/payloads')(name, key, owner) end
    if redis.call('exists', Keys.job .. owner) == 1 then return end
    if part == 'dependents' then check.need('judge/dependents')(owner, 'missing') end
    check.add(part == 'history' and 'history-orphan' or 'edges-orphan', name, 'no job', check.set_aside({}, key))
  end

  return function(name)
    local key = Keys.prefix .. name
    local actual_type = redis.call('type', key)
    actual_type = actual_type.ok or actual_type
    if actual_type == 'none' then return end
    local lost = string.sub(key, 1, #Keys.lost) == Keys.lost
    local kind, family, owner, part, day = kind_of(name)
    if not kind and not lost then return check.add('key-unknown', name, actual_type) end
    local ttl = redis.call('ttl', key)
    -- Only the hash of a throttle and a window of uniqueness may expire. A throttle's id may end like the name of a
    -- throttle's set: then the hash has a maximum.
    local is_throttle = family == 'th' and actual_type == 'hash' and (not part or redis.call('hget', key, 'maximum'))
    if ttl >= 0 and (lost or not is_throttle and family ~= 'u') then
      check.add('key-expires', name, 'in ' .. ttl .. ' seconds', {{'expiry', key, false, ttl .. '000', false}})
    end
    if lost then
      local size = sizes[actual_type] and redis.call(sizes[actual_type], key)
      return check.add('lost-key', name, size and actual_type .. ' of ' .. size or actual_type,
        {{'delete', key, false, false, false}})
    end
    if is_throttle then return check.need('key/value')(name, key, family) end
    if actual_type ~= kind then return check.wrong_type(key, kind) end
    if family == 'j' and part then
      companion(name, key, owner, part)
    elseif family == 'q' and part ~= 'completed' then
      check.need('index/queue_listed')(owner)
    elseif family == 'f' then
      check.need('index/failures')(owner)
    elseif family == 'th' and part == 'pending' then
      check.need('key/idle')(owner)
    elseif family == 'u' or name == 'fence' then
      check.need('key/value')(name, key, family or name)
    elseif family == 's' and part == 'stats' then
      check.need('index/failed_count')(key, day, owner)
    elseif family == 's' then
      check.need('key/stats')(name, key)
    end
  end
end
