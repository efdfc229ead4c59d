-- Reads the options that a template (recurring job) stores for its jobs.
-- Takes: the stored JSON object
-- Result: a table of the options by name; nil if the text is not JSON
return function(text)
  local ok, opts = pcall(cjson.decode, text)
  return ok and type(opts) == 'table' and opts or nil
end
