-- put: me queue jid klass data delay [priority p] [tags json] [retries n] [depends json]
-- Creates a job, or takes one that exists, in whatever state, into the queue. Answers the jid.
return function(argv, now, t, when)
  local queue, jid, klass, data, delay = argv[4], argv[5], argv[6], argv[7], argv[8]
  if not queue then error('Queue(): no queue name provided') end
  if not jid then error('Put(): Arg "jid" missing') end
  if not klass then error('Put(): Arg "klass" missing') end
  if not data or cjson.decode(data) == false then
    error('Put(): Arg "data" missing or not JSON: ' .. tostring(data))
  end
  local seconds = tonumber(delay)
  if not seconds or seconds - seconds ~= 0 then error('Put(): Arg "delay" not a number: ' .. tostring(delay)) end
  local o
  if argv[9] then
    o = need('put_options')(argv, 9)
    if o.depends and o.depends[1] then o.open = need('open')(jid, o.depends) end
  else
    o = {}
  end
  -- All reserved endings end in y or s.
  local last = string.byte(jid, -1)
  if (last == 121 or last == 115) and need('reserved')(jid) then
    error('Put(): Arg "jid" must not end in -history, -dependencies or -dependents: ' .. jid)
  end
  local old = redis.call('hmget', Keys.job .. jid, 'state', 'queue', 'worker', 'priority', 'tags', 'retries',
    'failure', 'history', 'grace', 'scheduled')
  need('put')(now, t, when, argv[3], queue, jid, klass, data, seconds, o, old)
  return jid
end
