-- Returns the maximum delay of a back-off in seconds: 30 years. It limits a delay that grows with each try.
return function()
  return 946080000
end
