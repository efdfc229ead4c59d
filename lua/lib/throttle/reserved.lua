-- Whether no throttle can have this id, since its key would be that of another one's lists. A lock can: it has
-- no setting.
-- Takes: id
return function(id)
  return string.sub(id, -6) == '-locks' or string.sub(id, -8) == '-pending'
end
