-- Updates the lane, the payloads and the throttles of a job whose run has ended other than by a completion.
-- Takes: now; t; seconds; `retry`, `timeout`, `fail` or `exhausted`; of the job, `jid`, the `queue` where it is now,
--   and its stored `throttles`
-- Publishes: as merge/vanish and merge/split
local Ext = Fields('job/extension')

return function(now, t, seconds, how, ended)
  local jid, queue, throttles = ended.jid, ended.queue, ended.throttles
  local ext, key = need('job/extension')(jid), Keys.job .. jid
  local lane = ext[Ext.key]
  if lane then
    local leaves = ext[Ext.hold] ~= '1'
    if ext[Ext.dup] == 'merge' then
      if how == 'retry' or how == 'exhausted' and leaves then need('merge/absorb')(now, jid, lane, queue) end
      if how == 'exhausted' and leaves then need('merge/split')(now, t, seconds, jid, queue) end
      redis.call('hset', key, 'data', need('merge/compose')(jid))
    end
    if leaves and (how == 'fail' or how == 'exhausted') then need('lane/leave')(now, lane, jid) end
  end
  need('throttle/leave')(jid, 'running', queue, throttles)
end
