-- The jobs that exist, in the given order, as a JSON array (`{}` if there are none).
-- Takes: jid ...
-- Refuses: more than 10000 jids
return function(argv)
  if argv[10003] then error('Multiget(): more than 10000 jids') end
  return need('job/render_existing')(need('value/args_from')(argv, 3))
end, true
