-- Checks entries of a failure list by position. A repair removes all entries that do not belong there together,
-- because each removal on its own would search the list.
-- Takes: the positions where blocks of 50 entries begin, counted from the end of the list, in ascending order
-- Result: the number of blocks that were checked before the call reached its cost limit; the jobs that failed in
--   another group, which the caller checks one by one, because each requires searches
-- Refuses: positions that are not whole numbers
return function(check, group)
  local key, strays, misplaced = Keys.group .. group, {}, {}
  local prefix = '{"group":' .. cjson.encode(group) .. ','

  local function judge_entry(jid, index)
    check.cost = check.cost + 1
    local stored = redis.pcall('hmget', Keys.job .. jid, 'state', 'failure')
    local failure = not stored.err and stored[1] == 'failed' and stored[2]
    if failure and string.sub(failure, 1, #prefix) == prefix then return end
    local what, job = check.read(jid)
    if what == 'gone' or what == 'job' and job.state ~= 'failed' then
      strays[#strays + 1] = {'list', key, '' .. index, jid, false}
      check.cost = check.cost + 4
    elseif what == 'type' then
      check.wrong_type(Keys.job .. jid, 'hash')
    elseif what == 'job' and check.need('judge/failure')(job) ~= group then
      misplaced[#misplaced + 1] = jid
    end
  end

  -- Reports the entries that do not belong in the list, the last one first. In a repair, also removes them.
  local function remove(length)
    local word = strays[1] and check.outcome('failed-stray')
    if not word then return end
    local changes = {}
    for i = 1, #strays do changes[i] = strays[i] end
    local last = #strays == length and check.ask('sismember', Keys.failures, group) == 1
    if last then changes[#changes + 1] = {'set', Keys.failures, group, '1', false} end
    if check.repair and word == 'found' then
      word = check.write(changes) and 'mended' or word
    end
    for i = 1, #strays do
      local own = {strays[i]}
      if last and i == #strays then own[2] = changes[#changes] end
      check.report({'failed-stray', strays[i][4], word, group}, own)
    end
  end

  return function(starts)
    local length, wrong = check.ask('llen', key)
    if wrong then return check.wrong_type(key, 'list') end
    local before, judged = length, 0
    while judged < #starts and check.cost < 3000 do
      judged = judged + 1
      local start = need('value/whole')(starts[judged], 0)
      if not start then error('Check(): position is not a number: ' .. starts[judged]) end
      local from, to = math.max(0, length - start - 50), math.min(before, length - start) - 1
      if from <= to then
        local page = redis.call('lrange', key, from, to)
        for k = #page, 1, -1 do judge_entry(page[k], from + k - 1) end
        before = from
      end
    end
    remove(length)
    check.flush()
    if not check.refused then check.need('index/failures')(group) end
    return judged, misplaced
  end
end
