-- Raises an error again if the server refuses to write: it is out of memory, is a replica, has too few replicas or
-- cannot write to its disk. The server refuses only the first write of a script, so this call has changed nothing. The
-- refusal concerns the whole call, not one job: the client can repeat the call when the server takes changes again.
-- Takes: the error, or its text
return function(caught)
  -- Redis 6.2 puts the position and a dash before the code: `@user_script: 69: -OOM ...`.
  local text = string.gsub(need('value/error_text')(caught), '^@[^ ]*: ?%d+: ?%-?', '')
  local code = string.match(text, '^%u+')
  if code == 'OOM' or code == 'READONLY' or code == 'NOREPLICAS' or code == 'MISCONF' then error(caught, 0) end
end
