-- Checks a job: its fields, its history, its sets, and everything that names it or that it names.
-- Takes: jid
return function(check)
  local healthy = check.need('judge/healthy')
  return function(jid)
    if healthy(jid) then return end
    local what, job = check.read(jid)
    local reserved = need('job/reserved')(jid)
    if what == 'gone' or what == 'type' then
      -- If the jid has a reserved ending, the key may be a companion of another job, such as its history: then its type
      -- is right.
      if what == 'type' and not reserved then check.wrong_type(Keys.job .. jid, 'hash') end
      return
    end
    if reserved and what ~= 'stub' then
      check.add('key-type', 'j:' .. jid, 'job id with a reserved ending', {}, 'job')
    end
    check.need('judge/stub')(job, what)
    if what == 'stub' then return end
    check.need('judge/fields')(job, what)
    check.need('judge/history')(job)
    check.need('judge/legacy_history')(job)
    if what == 'odd' then return end
    check.need('judge/sets')(job)
    if job.state == 'running' then check.need('judge/running')(job) end
    check.need('judge/complete')(job)
    if job.state == 'failed' then check.need('judge/failed')(job) end
    check.need('judge/edges')(job)
    check.need('judge/job_tags')(job)
    check.need('judge/child')(job)
    if job.state ~= 'complete' then check.need('index/queue_listed')(job.queue) end
    check.need('judge/leftovers')(job)
    check.need('judge/coordination')(job)
  end
end
