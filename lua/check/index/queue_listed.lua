-- Checks that `ql:queues` lists a queue that is in use. Checks each queue only once.
-- Takes: queue
return function(check)
  local asked = {}
  return function(queue)
    if asked[queue] then return end
    asked[queue] = true
    local score, wrong = check.ask('zscore', Keys.queues, queue)
    if wrong then
      check.wrong_type(Keys.queues, 'zset')
    elseif not score then
      check.add('queue-unlisted', queue, '', {{'zset', Keys.queues, queue, false, check.score(check.now)}})
    end
  end
end
