-- Lists the settings with a default that clients see.
return {
  application = 'qless',
  ['grace-period'] = 10,
  heartbeat = 60,
  ['histogram-history'] = 7,
  ['jobs-history'] = 604800,
  ['jobs-history-count'] = 50000,
  ['stats-history'] = 30,
}
