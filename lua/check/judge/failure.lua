-- Reads the group and the time of a job's failure.
-- Takes: job
-- Result: group and time. If either is missing: the group or nil; nil; and the text of the failure, rebuilt from the
--   history (false if the history has no failure)
return function(check)
  local number = need('value/number')

  -- Returns group, time and worker of the newest failure among the last 100 history entries.
  local function newest_failure(job)
    local list = check.ask('lrange', job.key .. Keys.history, -100, -1) or {}
    for i = #list, 1, -1 do
      if string.find(list[i], '"failed"', 1, true) and #list[i] < check.longest then
        local ok, entry = pcall(cjson.decode, list[i])
        if ok and type(entry) == 'table' and entry[2] == 'failed' and type(entry[3]) == 'table'
          and type(entry[3].group) == 'string' and type(entry[1]) == 'number' and entry[1] - entry[1] == 0 then
          return entry[3].group, entry[1], type(entry[3].worker) == 'string' and entry[3].worker or ''
        end
      end
    end
  end

  return function(job)
    local failure = need('failure/decode')(job.failure)
    local group, when = failure.group, number(failure.when)
    if type(group) ~= 'string' then group = nil end
    if group and when then return group, when end
    local known, moment, worker = newest_failure(job)
    if not known then return group, nil, false end
    local message = failure.message
    if type(message) ~= 'string' then message = '' end
    return group or known, nil, need('failure/encode')(group or known, message, moment, worker)
  end
end
