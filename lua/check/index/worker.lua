-- Checks an entry of the job list of a worker.
-- Takes: jid
return function(c, worker)
  local key = Keys.worker .. worker .. Keys.held
  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    local what, j = c.read(jid)
    if what == 'gone' or what == 'stub'
      or what == 'job' and (j.worker or '') ~= worker
      or what == 'job' and j.state ~= 'running' and j.state ~= 'stalled' then
      c.add('worker-stray', jid, worker, {{'zset', key, jid, score, false}})
    elseif what == 'job' and j.state == 'running' then
      c.need('judge/running')(j)
    end
  end
end
