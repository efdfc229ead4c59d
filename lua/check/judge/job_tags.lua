-- Checks that the index of each tag of a job lists the job.
-- Takes: job
return function(c)
  return function(j)
    local tags = c.need('judge/tag_list')(j.tags)
    if not tags then return end
    for i = 1, math.min(#tags, 1000) do
      local key = Keys.tag .. tags[i]
      local score, wrong = c.ask('zscore', key, j.id)
      if wrong then
        c.wrong_type(key, 'zset')
      elseif not score then
        local changes = {{'zset', key, j.id, false, c.score(c.put_time(j))}}
        c.need('index/tag_counter')(changes, tags[i], 1)
        c.add('tag-index', j.id, tags[i], changes)
      end
    end
    if #tags > 1000 then c.add('not-judged', 'j:' .. j.id, 'more than 1000 tags') end
  end
end
