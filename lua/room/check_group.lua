-- Returns a function that judges an entry of a failure list.
return function(c, group)
  local lists = c.room('check_lists')
  return function(jid)
    local places, length = lists.find(group, jid)
    if not places or not places[1] then return end
    local what, j = c.read(jid)
    if what == 'type' then
      c.wrong_type(Keys.job .. jid, 'hash')
    elseif what == 'gone' or what == 'job' and j.state ~= 'failed' then
      local changes = {}
      lists.drop(changes, group, jid, places, length)
      c.add('failed-stray', jid, group, changes)
    elseif what == 'job' then
      c.room('check_failed')(j, group)
    end
    c.room('check_failures')(group)
  end
end
