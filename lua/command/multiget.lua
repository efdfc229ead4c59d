-- multiget: jid ...
-- Answers the jobs that exist, in the order asked, as a JSON array, `{}` if there are none.
return function(argv)
  return need('job/render_existing')(need('value/args_from')(argv, 3))
end, true
