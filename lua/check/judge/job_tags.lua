-- Checks for each tag of a job, up to 1000, that the index of the tag lists the job.
-- Takes: job
return function(check)
  return function(job)
    local tags = check.need('judge/tag_list')(job.tags)
    if not tags then return end
    for i = 1, math.min(#tags, 1000) do
      local key = Keys.tag .. tags[i]
      local score, wrong = check.ask('zscore', key, job.id)
      if wrong then
        check.wrong_type(key, 'zset')
      elseif not score then
        local changes = {{'zset', key, job.id, false, check.score(check.put_time(job))}}
        check.need('index/tag_counter')(changes, tags[i], 1)
        check.add('tag-index', job.id, tags[i], changes)
      end
    end
    if #tags > 1000 then check.add('not-judged', 'j:' .. job.id, 'more than 1000 tags') end
  end
end
