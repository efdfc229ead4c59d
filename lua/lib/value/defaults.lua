-- The default values of settings, as clients see them.
return function()
  local all = {
    application = 'qless',
    ['grace-period'] = 10,
    heartbeat = 60,
    ['histogram-history'] = 7,
    ['jobs-history'] = 604800,
    ['jobs-history-count'] = 50000,
    ['stats-history'] = 30,
  }
  if php then
    all['jobs-failed-history'], all['backoff-initial-delay'], all['backoff-factor'] = 604800, 0, 3
  end
  return all
end
