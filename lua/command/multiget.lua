-- multiget: jid ...
-- Answers the jobs that exist, in the order asked, as a JSON array, `{}` if there are none.
return function(argv)
  local jids = {}
  for i = 3, #argv do jids[i - 2] = argv[i] end
  return need('job').render_existing(jids)
end
