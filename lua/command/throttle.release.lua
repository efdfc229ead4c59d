-- Releases jobs from a throttle: a running job gives its slot back, a held one returns to work without this
-- throttle. Then other held jobs return to work, one per free slot.
-- Takes: id jid ...
-- Refuses: a missing id, more than 10000 jids
local Job = Fields('state', 'queue', 'throttles')

return function(argv)
  local call, id = redis.call, argv[3]
  if not id then error('Throttle(): Arg "id" missing') end
  if argv[10004] then error('Throttle(): more than 10000 jids') end
  local key = Keys.throttle .. id
  for i = 4, #argv do
    local jid = argv[i]
    local job = redis.pcall('hmget', Keys.job .. jid, unpack(Job))
    local value = call('zscore', key .. Keys.pending, jid)
    call('zrem', key .. Keys.pending, jid)
    if job[Job.state] == 'throttled' and job[Job.queue] then
      local keep, queue = {}, job[Job.queue]
      local ids = need('job/tags')(job[Job.throttles])
      for k = 1, #ids do
        if ids[k] ~= id then keep[#keep + 1] = ids[k] end
      end
      if #keep < #ids then
        value = value or call('zscore', Keys.queue .. queue .. Keys.throttled, jid) or '0'
        call('hset', Keys.job .. jid, 'throttles', keep[1] and cjson.encode(keep) or '[]')
        need('throttle/return_to_work')(jid, queue, ids, value)
      end
    end
    call('zrem', key .. Keys.locks, jid)
  end
  need('throttle/wake')(id)
end, true
