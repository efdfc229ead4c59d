-- Returns a function that judges an entry of the index of a tag.
return function(c, tag)
  local key = Keys.tag .. tag
  return function(jid)
    local score, wrong = c.ask('zscore', key, jid)
    if wrong then return c.wrong_type(key, 'zset') end
    if not score then return end
    local what, j = c.read(jid)
    local stray = what == 'gone'
    if what == 'job' then
      local tags = c.room('check_tag_list')(j.tags)
      stray = tags ~= nil
      for i = 1, #(tags or {}) do
        if tags[i] == tag then stray = false end
      end
    end
    if stray then
      local changes = {{'zset', key, jid, score, false}}
      c.room('check_counter')(changes, tag, -1)
      c.add('tag-index', jid, tag, changes)
    end
  end
end
