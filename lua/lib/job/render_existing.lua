-- Renders the jobs that exist as a JSON array.
-- Takes: jids
-- Result: the text, `{}` if there are none
local Job = Fields('job/read')

return function(jids)
  local read, found, jobs, count = need('job/read'), {}, {}, 0
  for i = 1, #jids do
    local job = read(jids[i], 'shown')
    if job[Job.jid] then
      count = count + 1
      found[count], jobs[count] = jids[i], job
    end
  end
  return need('job/render_all')(found, jobs, count, need('job/tracked')(found, count))
end
