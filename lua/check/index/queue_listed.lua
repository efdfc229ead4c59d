-- Checks that `ql:queues` lists a queue that is in use. Once per queue.
-- Takes: queue
return function(c)
  local asked = {}
  return function(queue)
    if asked[queue] then return end
    asked[queue] = true
    local score, wrong = c.ask('zscore', Keys.queues, queue)
    if wrong then
      c.wrong_type(Keys.queues, 'zset')
    elseif not score then
      c.add('queue-unlisted', queue, '', {{'zset', Keys.queues, queue, false, c.score(c.now)}})
    end
  end
end
