-- multiget: jid ...
-- Answers the jobs that exist, in the order asked, as a JSON array, `{}` if there are none.
return function(argv)
  return need('render_existing')(need('words')(argv, 3))
end, true
