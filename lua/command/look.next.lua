-- The jobs that pops would get from queues now, one queue after the other, by a dry run of `pop`. At most 1000
-- jobs, which take about 150 ms. Writes nothing.
-- Takes: count; `peek` to ignore pauses, else `pop`; queue ...
-- Result: per job: its jid, and false; in place of false, for a job that a pop would first have to make from its
--   recurring job, its fields as name, value, ...
-- Refuses: a missing queue, a count that is not a whole number, what pop refuses
local fields = 'klass,queue,priority,retries,remaining,tags,data,spawned_from_jid,throttles,key,dup'

return function(argv, now, t, seconds)
  local exists, count, reply = redis.call, need('value/whole')(argv[3], 0), {}
  if not count then error('Look(): count must be a whole number') end
  if not argv[5] then error('Look(): queue missing') end
  count = math.min(count, 1000)
  -- Begin a dry run, because the pops below would write.
  need('dry_run/begin')()
  need('value/rows')(need('value/args_from')(argv, 5), function(queue)
    local want, given
    if #reply >= 2 * count then return true end
    if argv[4] == 'peek' then redis.call('srem', Keys.paused, queue) end
    repeat
      want = math.min(500, count - #reply / 2)
      local popped = cjson.decode((need('pop', true)({'pop', t, queue, '', '' .. want}, now, t, seconds)))
      given = #popped
      for n = 1, given do
        local jid = popped[n].jid
        reply[#reply + 1] = jid
        reply[#reply + 1] = exists('exists', Keys.job .. jid) == 0
          and need('look.jobs', true)({'look.jobs', t, fields, jid}, now)[1]
      end
    until want == 0 or given < want
    return true
  end)
  return reply
end
