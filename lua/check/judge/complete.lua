-- Checks that a job is in the list of complete jobs if, and only if, it is complete.
-- Takes: job
return function(c)
  return function(j)
    local score, wrong = c.ask('zscore', Keys.completed, j.id)
    if wrong then
      c.wrong_type(Keys.completed, 'zset')
    elseif j.state == 'complete' and j.queue ~= '' then
      c.add('completed-stray', j.id, 'complete in queue ' .. j.queue, {}, 'queue')
    elseif j.state == 'complete' then
      local time = need('value/number')(j.time)
      if not score and time and time > c.now + 3600 then
        -- An entry with that time would stay as long.
        c.add('completed-unlisted', j.id, '', {}, 'ahead')
      elseif not score then
        c.add('completed-unlisted', j.id, '', {{'zset', Keys.completed, j.id, false, c.score(time or c.now)}})
      end
    elseif score then
      c.add('completed-stray', j.id, j.state, {{'zset', Keys.completed, j.id, score, false}})
    end
  end
end
