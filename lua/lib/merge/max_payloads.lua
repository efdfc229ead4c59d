-- The maximum number of payloads of a merge job.
-- Takes: the setting `merge-max`
return function(text)
  local n = type(text) == 'string' and need('value/number')(text)
  return n and n >= 1 and math.floor(n) or 1000
end
