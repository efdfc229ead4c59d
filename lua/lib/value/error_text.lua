-- The text of an error that was caught, without its position in the script.
-- Takes: the error
return function(error)
  local text = type(error) == 'table' and error.err or tostring(error)
  return (string.gsub(text, '^user_script:%d+: ', ''))
end
