-- Whether a call gives an option about throttles, lanes, merging, uniqueness or back-off.
-- Takes: the words by name
return function(given)
  return given.key or given.throttles or given.lock or given.dup or given.backoff or given.hold or given.ttl
    or given.score or given.rescore or given['until']
end
