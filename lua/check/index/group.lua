-- Checks that an entry of a failure list names a job that failed in this group.
-- Takes: jid
return function(check, group)
  local lists = check.need('index/failure_lists')
  return function(jid)
    local what, job = check.read(jid)
    if what == 'gone' or what == 'job' and job.state ~= 'failed' then
      local places, length = lists.near(group, jid)
      if not places or not places[1] then return end
      local changes = {}
      lists.drop(changes, group, jid, places, length)
      check.add('failed-stray', jid, group, changes)
    else
      local places = lists.find(group, jid)
      if not places or not places[1] then return end
      if what == 'type' then
        check.wrong_type(Keys.job .. jid, 'hash')
      elseif what == 'job' then
        check.need('judge/failed')(job, group)
      end
    end
    check.need('index/failures')(group)
  end
end
