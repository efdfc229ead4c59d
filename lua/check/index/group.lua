-- Checks an entry of a failure list.
-- Takes: jid
return function(c, group)
  local lists = c.need('index/failure_lists')
  return function(jid)
    local what, j = c.read(jid)
    if what == 'gone' or what == 'job' and j.state ~= 'failed' then
      local places, length = lists.near(group, jid)
      if not places or not places[1] then return end
      local changes = {}
      lists.drop(changes, group, jid, places, length)
      c.add('failed-stray', jid, group, changes)
    else
      local places = lists.find(group, jid)
      if not places or not places[1] then return end
      if what == 'type' then
        c.wrong_type(Keys.job .. jid, 'hash')
      elseif what == 'job' then
        c.need('judge/failed')(j, group)
      end
    end
    c.need('index/failures')(group)
  end
end
