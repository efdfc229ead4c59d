-- The arguments of a call from a position on, as a list.
-- Takes: argv; the first position
return function(argv, first)
  local args = {}
  for i = first, #argv do args[i - first + 1] = argv[i] end
  return args
end
