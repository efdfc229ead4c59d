-- The options that a template stores for its children, by name; nil if the text does not parse.
-- Takes: the stored JSON object
return function(text)
  local ok, opts = pcall(cjson.decode, text)
  return ok and type(opts) == 'table' and opts or nil
end
