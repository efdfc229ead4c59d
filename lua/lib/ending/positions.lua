-- Finds the jobs in the arguments of guard.finish and guard.turn: per job the number of its words, jid queue, then
-- `complete data [next q] [delay s] [depends json]`, `retry delay [group [message [exit]]]` or
-- `fail group message [data]`.
-- Takes: argv; the position of the first number
-- Result: the positions of the numbers
-- Refuses: wrong numbers, other endings, more than 500 jobs
return function(argv, at)
  local positions, count = {}, 0
  while argv[at] do
    local words = tonumber(argv[at])
    if not words or words % 1 ~= 0 or words < 3 or at + words > #argv then
      error('Guard(): wrong number of words: ' .. argv[at])
    end
    local way = argv[at + 3]
    if way ~= 'complete' and way ~= 'retry' and way ~= 'fail' then
      error('Guard(): a job ends by complete, retry or fail: ' .. way)
    end
    count = count + 1
    if count > 500 then error('Guard(): more than 500 jobs') end
    positions[count] = at
    at = at + words + 1
  end
  return positions
end
