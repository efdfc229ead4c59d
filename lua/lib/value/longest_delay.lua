-- The longest delay of a back-off in seconds: beyond 30 years, a date would be no use to anyone.
return function()
  return 946080000
end
