-- Checks that the template of a job has counted it. If not, the template would use the number again.
-- Takes: job
return function(c)
  return function(j)
    if not j.spawned then return end
    local from = #j.spawned + 1
    if string.sub(j.id, 1, from) ~= j.spawned .. '-' then return end
    local n = string.match(string.sub(j.id, from + 1), '^[1-9]%d*$')
    if n and #n <= 15 then c.need('judge/template_count')(j.spawned, tonumber(n)) end
  end
end
