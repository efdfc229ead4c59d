-- Checks an entry of the list of jobs that a worker holds.
-- Takes: jid
return function(check, worker)
  local key = Keys.worker .. worker .. Keys.held
  return function(jid)
    local score, wrong = check.ask('zscore', key, jid)
    if wrong then return check.wrong_type(key, 'zset') end
    if not score then return end
    local what, job = check.read(jid)
    if what == 'gone' or what == 'stub'
      or what == 'job' and (job.worker or '') ~= worker
      or what == 'job' and job.state ~= 'running' and job.state ~= 'stalled' then
      check.add('worker-stray', jid, worker, {{'zset', key, jid, score, false}})
    elseif what == 'job' and job.state == 'running' then
      check.need('judge/running')(job)
    end
  end
end
