-- Returns what is wrong with the keys that a stored job is taken out of, nil if nothing is.
-- `job`: state, queue, worker, tags (or false), failure of the job.
return function(sound, jid, state, queue, worker, tags, failure)
  local key = Keys.job .. jid
  local bad = sound('list', key .. Keys.history, 'set', key .. Keys.dependencies, 'set', key .. Keys.dependents,
    'zset', Keys.tracked)
  if not bad and queue and queue ~= '' then
    local base = Keys.queue .. queue
    bad = sound('zset', base .. Keys.work, 'zset', base .. Keys.locks, 'zset', base .. Keys.scheduled,
      'zset', base .. Keys.depends)
  end
  if not bad and worker and worker ~= '' then bad = sound('zset', Keys.worker .. worker .. Keys.held) end
  if not bad and state == 'complete' then bad = sound('zset', Keys.completed) end
  if not bad and state == 'failed' then
    local told = need('failure')(failure)
    bad = sound('set', Keys.failures)
    if not bad and type(told.group) == 'string' then bad = sound('list', Keys.group .. told.group) end
  end
  if not bad and tags and tags ~= '{}' then
    bad = sound('zset', Keys.tags)
    for _, tag in ipairs(need('tags')(tags)) do bad = bad or sound('zset', Keys.tag .. tag) end
  end
  return bad
end
