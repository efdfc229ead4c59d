-- Whether no throttle can have this id, since its key would be the key of a list of another throttle. A lock can have
-- the id, since a lock has no setting.
-- Takes: id
return function(id)
  return string.sub(id, -6) == '-locks' or string.sub(id, -8) == '-pending'
end
