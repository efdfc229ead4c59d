-- Reads the defaults of a queue. Members with wrong names or values are left out, so that a setting never stops a job.
-- Takes: the stored JSON object; a list to which the names of members that are left out are added, or nil
-- Result: the options as option/read gives them, and `retries`, `priority`, `due` (whether `order` is `due`), and
--   `maxima`, by throttle, of members `ID=MAX` of `throttles`; nil if there are none
return function(text, left)
  local ok, members = pcall(cjson.decode, text)
  if not ok or type(members) ~= 'table' then return nil end
  local defaults, number = {}, need('value/number')
  for name, value in pairs(members) do
    local known = false
    if type(value) == 'number' then value = string.format('%.14g', value) end
    if type(value) == 'boolean' then value = value and '1' or '0' end
    if name == 'throttles' and type(value) == 'table' then value = cjson.encode(value) end
    if type(name) == 'string' and type(value) == 'string' then
      if name == 'retries' or name == 'priority' then
        defaults[name] = number(value)
        known = defaults[name]
      elseif name == 'order' then
        defaults.due = value == 'due'
        known = defaults.due
      else
        local fine, read = pcall(need('option/read'), {[name] = value}, '')
        if fine then
          for key, parsed in pairs(read) do defaults[key], known = parsed, true end
        end
      end
    end
    if left and not known then left[#left + 1] = tostring(name) end
  end
  defaults.keyed, defaults.maxima = nil, {}
  -- Split off `=MAX` before the template is expanded: data that ends in such a number belongs to the id.
  for i, text in ipairs(defaults.throttles or {}) do
    local id, maximum = string.match(text, '^(.+)=([+-]?%d*)$')
    if id then defaults.throttles[i], defaults.maxima[id] = id, number(maximum) end
  end
  return defaults
end
