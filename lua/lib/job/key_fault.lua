-- Tests the types of all keys that a deletion of a job changes.
-- Takes: the function of value/key_fault; jid; a table with the stored `state`, `queue`, `worker`, `tags` and `failure`
-- Result: nil, or a text that says which key is wrong; the tags of the job as a list, nil if it has none
return function(key_fault, jid, job)
  local key, state, queue, worker, tags = Keys.job .. jid, job.state, job.queue, job.worker, job.tags
  local bad = key_fault('list', key .. Keys.history, 'set', key .. Keys.dependencies, 'set', key .. Keys.dependents,
    'zset', Keys.tracked)
  if not bad and queue and queue ~= '' then
    local base = Keys.queue .. queue
    bad = key_fault('zset', base .. Keys.work, 'zset', base .. Keys.locks, 'zset', base .. Keys.scheduled,
      'zset', base .. Keys.depends)
  end
  if not bad and worker and worker ~= '' then bad = key_fault('zset', Keys.worker .. worker .. Keys.held) end
  if not bad and state == 'complete' then bad = key_fault('zset', Keys.completed) end
  if not bad and state == 'failed' then
    local decoded = need('failure/decode')(job.failure)
    bad = key_fault('set', Keys.failures)
    if not bad and type(decoded.group) == 'string' then bad = key_fault('list', Keys.group .. decoded.group) end
  end
  if bad or not tags or tags == '{}' then return bad end
  local list, keys = need('job/tags')(tags), {Keys.tags}
  for i = 1, #list do keys[i + 1] = Keys.tag .. list[i] end
  return key_fault('zset', keys), list
end
