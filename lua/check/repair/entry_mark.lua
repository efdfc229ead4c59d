-- Returns a text that no entry of a failure list has. A repair replaces entries by it and removes them in one call.
-- Takes: key of the list; text of an entry
return function(key, entry)
  return '\0' .. redis.sha1hex(key .. '\0' .. entry)
end
