-- Checks the payloads of a merge job: there must be some, and the job's data must be their array unless the job runs.
-- Takes: job
return function(check)
  return function(job)
    local key = job.key .. Keys.payloads
    local count, wrong = check.ask('zcard', key)
    if wrong then return check.wrong_type(key, 'zset') end
    if count == 0 then
      -- The payloads are lost, but the job's data still contains them: make the job a plain job, which keeps its data.
      return check.add('payloads-missing', job.id, '', {{'hash', job.key, 'dup', 'merge', false}})
    end
    -- A running job may have replaced its data: do not compare it with the payloads.
    if job.state == 'running' then return end
    if count > 10000 then return check.add('not-judged', 'j:' .. job.id, 'more than 10000 payloads') end
    check.cost = check.cost + count / 5
    local data, composed = check.ask('hget', job.key, 'data'), need('merge/compose')(job.id)
    if data == composed then return end
    if not pcall(cjson.decode, composed) then
      return check.add('payloads-data', job.id, 'a payload is not JSON', {}, 'broken')
    end
    local changes = {{'hash', job.key, 'data', data, composed}}
    if data then changes[2] = {'hash', job.key, 'bad-data', check.ask('hget', job.key, 'bad-data'), data} end
    check.add('payloads-data', job.id, count .. ' payloads', changes)
  end
end
