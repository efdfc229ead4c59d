-- Checks a worker's time in `ql:workers`, and that it is listed there if it holds jobs.
-- Takes: worker
return function(c)
  return function(worker)
    local score, wrong = c.ask('zscore', Keys.workers, worker)
    if wrong then return c.wrong_type(Keys.workers, 'zset') end
    local key = Keys.worker .. worker .. Keys.held
    local held
    held, wrong = c.ask('zcard', key)
    if wrong then c.wrong_type(key, 'zset') end
    if score and tonumber(score) > c.now + 3600 then c.add('clock', worker, 'seen at ' .. score) end
    if not score and held and held > 0 then c.add('worker-unknown', worker, '') end
  end
end
