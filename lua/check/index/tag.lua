-- Checks an entry of the index of a tag: its job must exist and have the tag.
-- Takes: jid
return function(check, tag)
  local key = Keys.tag .. tag

  -- Whether the stored tags of a job can be decoded and lack this tag.
  local function lacks_tag(text)
    local tags = check.need('judge/tag_list')(text)
    for i = 1, #(tags or {}) do
      if tags[i] == tag then return false end
    end
    return tags ~= nil
  end

  return function(jid)
    local score, wrong = check.ask('zscore', key, jid)
    if wrong then return check.wrong_type(key, 'zset') end
    if not score then return end
    local text
    text, wrong = check.ask('hget', Keys.job .. jid, 'tags')
    if not wrong and text and not lacks_tag(text) then return end
    local what, job = check.read(jid)
    local stray = what == 'gone' or what == 'job' and lacks_tag(job.tags)
    if stray then
      local changes = {{'zset', key, jid, score, false}}
      check.need('index/tag_counter')(changes, tag, -1)
      check.add('tag-index', jid, tag, changes)
    end
  end
end
