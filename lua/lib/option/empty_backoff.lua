-- Removes an empty back-off from the words of a put. qless-php sends one with every put. An empty back-off has no
-- effect, so the job stays a plain one that only stores the text.
-- Takes: the words by name; the job (job/put)
-- Result: whether there was one
return function(given, job)
  if given.backoff ~= '[]' and given.backoff ~= '{}' then return false end
  job.fields, given.backoff = {'backoff', given.backoff}, nil
  return true
end
