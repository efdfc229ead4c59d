-- A text that no entry of a failure list is, to mark an entry until the end of the call.
-- Takes: key of the list; what the entry is
return function(key, entry)
  return '\0' .. redis.sha1hex(key .. '\0' .. entry)
end
