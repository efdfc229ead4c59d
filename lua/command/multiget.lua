-- Returns the jobs that exist, in the given order, as a JSON array (`{}` if there are none).
-- Takes: jid ...
return function(argv)
  return need('job/render_existing')(need('value/args_from')(argv, 3))
end, true
