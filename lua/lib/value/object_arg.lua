-- Decodes a JSON argument that must be an object with known fields. A field that is `null` counts as absent.
-- Takes: its name in errors; text; the type of each field by its name
-- Refuses: other documents, unknown fields, fields of another type
return function(what, text, kinds)
  if not text then error('Guard(): ' .. what .. ' missing') end
  local value = need('value/json_arg')(what, text)
  if type(value) ~= 'table' or not string.find(text, '^%s*{') then
    error('Guard(): ' .. what .. ' must be a JSON object')
  end
  local object = {}
  for name, member in pairs(value) do
    if not kinds[name] then error('Guard(): unknown member ' .. name .. ' of ' .. what) end
    if member ~= cjson.null then
      if type(member) ~= kinds[name] or kinds[name] == 'number' and member - member ~= 0 then
        error('Guard(): member ' .. name .. ' of ' .. what .. ' must be a ' .. kinds[name])
      end
      object[name] = member
    end
  end
  return object
end
