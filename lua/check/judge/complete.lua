-- Checks that a job is in the list of completed jobs if, and only if, it is complete.
-- Takes: job
return function(check)
  return function(job)
    local score, wrong = check.ask('zscore', Keys.completed, job.id)
    if wrong then
      check.wrong_type(Keys.completed, 'zset')
    elseif job.state == 'complete' and job.queue ~= '' then
      check.add('completed-stray', job.id, 'complete in queue ' .. job.queue, {}, 'queue')
    elseif job.state == 'complete' then
      local time = need('value/number')(job.time)
      if not score and time and time > check.latest then
        -- Report only: the job's time lies in the future, and the list would keep the entry until then.
        check.add('completed-unlisted', job.id, '', {}, 'ahead')
      elseif not score then
        check.add('completed-unlisted', job.id, '',
          {{'zset', Keys.completed, job.id, false, check.score(time or check.now)}})
      end
    elseif score then
      check.add('completed-stray', job.id, job.state, {{'zset', Keys.completed, job.id, score, false}})
    end
  end
end
