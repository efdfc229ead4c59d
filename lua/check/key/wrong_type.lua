-- Notes a key of the wrong type. A job is never set aside.
-- Takes: key; the expected type
return function(check)
  return function(key, kind)
    local held = redis.call('type', key)
    held = held.ok or held
    local job = held == 'hash' and check.ask('hget', key, 'jid') and check.ask('hget', key, 'data')
    check.add('key-type', string.sub(key, #Keys.prefix + 1), 'is a ' .. held .. ', not a ' .. kind,
      check.set_aside({}, key),
      job and 'job' or nil)
  end
end
