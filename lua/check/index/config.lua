-- Checks the value of an option: a number if the core reads one, for some options not below 0; for the defaults of a
-- queue, valid JSON.
-- Takes: option
return function(check)
  -- Why this core ignores the value of an option, in whole or in part; nil or false if it uses the whole value.
  local function ignored_reason(option, value)
    if string.find(option, '%-defaults$') then
      local ok, members = pcall(cjson.decode, value)
      if not (ok and type(members) == 'table' and string.find(value, '^%s*{')) then
        return 'is ignored, is no JSON object'
      end
      local left = {}
      need('option/defaults')(value, left)
      table.sort(left)
      return left[1] and 'is ignored in part: ' .. table.concat(left, ', ', 1, math.min(#left, 8))
    end
    local natural = option == 'jobs-failed-history' or option == 'backoff-initial-delay' or option == 'backoff-factor'
    if not natural and option ~= 'merge-max' and option ~= 'max-pop-scan' then return nil end
    local n = need('value/number')(value)
    if not n then return 'is ignored, is no number' end
    return natural and n < 0 and 'is ignored, is below 0'
  end

  local numeric = {['heartbeat'] = true, ['grace-period'] = true, ['jobs-history'] = true,
    ['jobs-history-count'] = true, ['max-job-history'] = true, ['max-worker-age'] = true, ['stats-history'] = true,
    ['histogram-history'] = true}
  return function(option)
    local value, wrong = check.ask('hget', Keys.config, option)
    if wrong then return check.wrong_type(Keys.config, 'hash') end
    if not value then return end
    local why = ignored_reason(option, value)
    if why then return check.add('config-value', option, why) end
    local is_limit = string.find(option, '%-max%-concurrency$')
    if not numeric[option] and not is_limit and not string.find(option, '%-heartbeat$') then return end
    local n = need('value/number')(value)
    if not n then
      local unread = option == 'stats-history' or option == 'histogram-history'
      check.add('config-value', option, unread and 'nobody reads it, is no number' or 'is no number')
    elseif n < 0 and (is_limit or option == 'max-worker-age') then
      check.add('config-value', option, 'is below 0')
    end
  end
end
