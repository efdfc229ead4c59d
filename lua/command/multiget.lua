-- Returns the jobs that exist, in the given order, as a JSON array (`{}` if there are none).
-- Takes: jid ...
-- Refuses: more than 5000 jids
return function(argv)
  if argv[5003] then error('Multiget(): more than 5000 jids') end
  return need('job/render_existing')(need('value/args_from')(argv, 3))
end, true
