-- Notes a key of the wrong type. A job is never set aside.
-- Takes: key; the expected type
return function(c)
  return function(key, kind)
    local held = redis.call('type', key)
    held = held.ok or held
    local job = held == 'hash' and c.ask('hget', key, 'jid') and c.ask('hget', key, 'data')
    c.add('key-type', string.sub(key, #Keys.prefix + 1), 'is a ' .. held .. ', not a ' .. kind, c.set_aside({}, key),
      job and 'job' or nil)
  end
end
