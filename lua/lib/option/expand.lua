-- Replaces the placeholders `{klass}`, `{queue}`, `{data}` and `{data.a.b}` in a text of a queue's defaults. A number
-- from the data keeps its digits.
-- Takes: template; queue; klass; data
-- Result: the text, nil if a placeholder has no value
return function(template, queue, klass, data)
  if not string.find(template, '{', 1, true) then return template end
  local whole, document, digits = true, nil, nil
  local function find(value, path)
    for part in string.gmatch(path, '%.([^.]*)') do
      if type(value) ~= 'table' then return nil end
      value = value[part]
    end
    return value
  end
  local function value_of(name)
    if name == 'klass' then return klass end
    if name == 'queue' then return queue end
    if name == 'data' then return data end
    local path = string.match(name, '^data(%..+)$')
    -- Other text in braces stays as it is.
    if not path then return nil end
    if document == nil then
      local ok, decoded = pcall(cjson.decode, data)
      document = ok and decoded or false
    end
    local value = find(document, path)
    local kind = type(value)
    if kind == 'string' then return value end
    if kind == 'number' then
      digits = digits or need('option/digits')(data)
      return find(digits, path)
    end
    if kind == 'boolean' then return tostring(value) end
    whole = false
  end
  local text = string.gsub(template, '{([^{}]*)}', value_of)
  return whole and text or nil
end
