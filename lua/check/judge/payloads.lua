-- Checks the payloads of a merge job: it has some, and its data is their array unless it runs.
-- Takes: job
return function(c)
  return function(j)
    local key = j.key .. Keys.payloads
    local count, wrong = c.ask('zcard', key)
    if wrong then return c.wrong_type(key, 'zset') end
    if count == 0 then
      -- Its data is all that is left of them: as a plain job it keeps the data.
      return c.add('payloads-missing', j.id, '', {{'hash', j.key, 'dup', 'merge', false}})
    end
    -- A running job may have replaced its data.
    if j.state == 'running' then return end
    if count > 10000 then return c.add('not-judged', 'j:' .. j.id, 'more than 10000 payloads') end
    c.cost = c.cost + count / 5
    local data, composed = c.ask('hget', j.key, 'data'), need('merge/compose')(j.id)
    if data == composed then return end
    if not pcall(cjson.decode, composed) then
      return c.add('payloads-data', j.id, 'a payload is not JSON', {}, 'broken')
    end
    local changes = {{'hash', j.key, 'data', data, composed}}
    if data then changes[2] = {'hash', j.key, 'bad-data', c.ask('hget', j.key, 'bad-data'), data} end
    c.add('payloads-data', j.id, count .. ' payloads', changes)
  end
end
