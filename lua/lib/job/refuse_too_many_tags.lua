-- Refuses more than 1000 tags of a job: each tag is a write, and more of them would hold up the server. A job that
-- has more, from another script, keeps them, but gets no further ones.
-- Takes: the name that errors begin with; how many tags it would have; how many it has, if any
return function(area, count, before)
  if count > 1000 and count > (before or 0) then error(area .. '(): Arg "tags" has more than 1000 tags') end
end
