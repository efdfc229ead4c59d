-- put: me queue jid klass data delay [priority p] [tags json] [retries n] [depends json]
-- Creates a job, or takes one that exists, in whatever state, into the queue. Answers the jid.
return function(argv, now, t)
  local queue, jid, klass, data, delay = argv[4], argv[5], argv[6], argv[7], argv[8]
  if not queue then error('Queue(): no queue name provided') end
  if not jid then error('Put(): Arg "jid" missing') end
  if not klass then error('Put(): Arg "klass" missing') end
  if not data or cjson.decode(data) == false then
    error('Put(): Arg "data" missing or not JSON: ' .. tostring(data))
  end
  local seconds = tonumber(delay)
  if not seconds or seconds - seconds ~= 0 then error('Put(): Arg "delay" not a number: ' .. tostring(delay)) end
  local Put = need('put')
  local o = {}
  if argv[9] then
    if #argv % 2 == 1 then error('Odd number of additional args: ' .. tostring(o)) end
    local given = {}
    for i = 9, #argv, 2 do given[argv[i]] = argv[i + 1] end
    local Arg = need('arg')
    if given.retries then
      o.retries = Arg.number(given.retries)
      if not o.retries then error('Put(): Arg "retries" not a number: ' .. given.retries) end
    end
    if given.tags then
      o.tags = Arg.names(given.tags)
      if not o.tags then error('Put(): Arg "tags" not JSON' .. given.tags) end
    end
    if given.priority then
      o.priority = Arg.number(given.priority)
      if not o.priority then error('Put(): Arg "priority" not a number' .. given.priority) end
    end
    if given.depends then
      o.depends = Arg.names(given.depends)
      if not o.depends then error('Put(): Arg "depends" not JSON: ' .. given.depends) end
      o.open = need('depend').open(jid, o.depends)
    end
  end
  if Put.reserved(jid) then
    error('Put(): Arg "jid" must not end in -history, -dependencies or -dependents: ' .. jid)
  end
  Put.write(now, t, argv[3], queue, jid, klass, data, seconds, o, Put.read(jid))
  return jid
end
