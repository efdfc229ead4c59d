-- Checks that a worker was not last seen in the future, and that `ql:workers` lists it if it holds jobs.
-- Takes: worker
return function(check)
  return function(worker)
    local score, wrong = check.ask('zscore', Keys.workers, worker)
    if wrong then return check.wrong_type(Keys.workers, 'zset') end
    local key = Keys.worker .. worker .. Keys.held
    local held
    held, wrong = check.ask('zcard', key)
    if wrong then check.wrong_type(key, 'zset') end
    if score and tonumber(score) > check.latest then check.add('clock', worker, 'seen at ' .. score) end
    if not score and held and held > 0 then check.add('worker-unknown', worker, '') end
  end
end
