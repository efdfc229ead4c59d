-- Checks that a template's counter has reached the number in a job's jid. Otherwise a later job would get that jid.
-- Takes: job
return function(check)
  return function(job)
    if not job.spawned then return end
    local from = #job.spawned + 1
    if string.sub(job.id, 1, from) ~= job.spawned .. '-' then return end
    local n = string.match(string.sub(job.id, from + 1), '^[1-9]%d*$')
    if n and #n <= 15 then check.need('judge/template_count')(job.spawned, tonumber(n)) end
  end
end
