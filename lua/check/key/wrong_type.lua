-- Reports a key of the wrong type, with the changes that set the key aside. A key that looks like a job is a case of
-- its own, because a repair never sets a job aside.
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
