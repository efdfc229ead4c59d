-- The end of the core in its form as a library, in place of dispatch.lua: defines the names that a plugin uses. The
-- plugin's own script follows in the same file. A method takes `now` first if the time matters, then the words of
-- its command. It returns a JSON reply as a table.
-- Refuses: a `now` that is not a finite number, missing jids and names
-- Publishes: what a plugin passes to `Qless.publish`
local Qless, QlessJob, QlessQueue, QlessWorker, QlessRecurringJob = {ns = Keys.prefix}, {}, {}, {}, {}
QlessJob.__index, QlessJob.ns = QlessJob, Keys.job
QlessQueue.__index, QlessQueue.ns = QlessQueue, Keys.queue
QlessRecurringJob.__index = QlessRecurringJob
QlessWorker.ns = Keys.worker

-- Runs a command as a client would.
local function run_command(name, now, ...)
  local moment = tonumber(now)
  if not moment or moment - moment ~= 0 then error('Arg "now" missing or not a number: nil') end
  local argv = {name, now}
  for i = 1, select('#', ...) do
    local word = select(i, ...)
    argv[i + 2] = word ~= nil and tostring(word) or nil
  end
  return need(name, true)(argv, moment, string.format('%.17g', moment), '' .. math.floor(moment))
end

-- Runs a command and decodes its JSON reply. Returns nil if the reply is empty.
local function run_decoded(...)
  local json = run_command(...)
  return json and cjson.decode(json) or nil
end

function Qless.publish(channel, message) return redis.call('publish', Keys.prefix .. channel, message) end
function Qless.job(jid)
  if not jid then error('Job(): no jid provided') end
  return setmetatable({jid = jid}, QlessJob)
end
function Qless.recurring(jid)
  if not jid then error('Recurring(): no jid provided') end
  return setmetatable({jid = jid}, QlessRecurringJob)
end
function Qless.queue(name)
  if not name then error('Queue(): no queue name provided') end
  return setmetatable({name = name}, QlessQueue)
end
function Qless.failed(group, start, limit) return run_decoded('failed', 0, group, start, limit) end
function Qless.jobs(now, state, ...) return run_command('jobs', now, state, ...) end
function Qless.track(now, command, jid) return run_decoded('track', now, command, jid) end
function Qless.tag(now, command, ...) return run_decoded('tag', now, command, ...) end
function Qless.cancel(now, ...) return run_command('cancel', now, ...) end

Qless.config = {
  defaults = need('value/defaults')(),
  get = function(key, default)
    if not key then return run_decoded('config.get', 0) end
    local value = run_command('config.get', 0, key)
    if value == nil then return default end
    return value
  end,
  set = function(key, value) return run_command('config.set', 0, key, value) end,
  unset = function(key) return run_command('config.unset', 0, key) end,
}

function QlessJob:data() return run_decoded('get', 0, self.jid) end
function QlessJob:exists() return redis.call('exists', Keys.job .. self.jid) == 1 end
function QlessJob:complete(now, ...) return run_command('complete', now, self.jid, ...) end
function QlessJob:fail(now, ...) return run_command('fail', now, self.jid, ...) end
function QlessJob:retry(now, ...) return run_command('retry', now, self.jid, ...) end
function QlessJob:heartbeat(now, ...) return run_command('heartbeat', now, self.jid, ...) end
function QlessJob:depends(now, ...) return run_command('depends', now, self.jid, ...) end
function QlessJob:priority(priority) return run_command('priority', 0, self.jid, priority) end
function QlessJob:timeout(now) return run_command('timeout', now, self.jid) end
function QlessJob:history(now, what, item)
  return run_command('log', now, self.jid, what, item ~= nil and cjson.encode(item) or nil)
end

function QlessQueue:put(now, me, ...) return run_command('put', now, me, self.name, ...) end
function QlessQueue:pop(now, ...) return run_decoded('pop', now, self.name, ...) end
function QlessQueue:peek(now, ...) return run_decoded('peek', now, self.name, ...) end
function QlessQueue:unfail(now, ...) return run_command('unfail', now, self.name, ...) end
function QlessQueue:recur(now, ...) return run_command('recur', now, self.name, ...) end
function QlessQueue:stats(now, ...) return run_decoded('stats', now, self.name, ...) end
function QlessQueue:length() return run_command('length', 0, self.name) end
function QlessQueue:prefix(part) return Keys.queue .. self.name .. (part and '-' .. part or '') end
function QlessQueue.counts(now, name) return run_decoded('queues', now, name) end
function QlessQueue.pause(now, ...) return run_command('pause', now, ...) end
function QlessQueue.unpause(...) return run_command('unpause', 0, ...) end
function QlessQueue.deregister(...) return run_command('queue.forget', 0, ...) end

function QlessWorker.counts(now, worker) return run_decoded('workers', now, worker) end
function QlessWorker.deregister(...) return run_command('worker.deregister', 0, ...) end

function QlessRecurringJob:data() return run_decoded('recur.get', 0, self.jid) end
function QlessRecurringJob:update(now, ...) return run_command('recur.update', now, self.jid, ...) end
function QlessRecurringJob:tag(...) return run_decoded('recur.tag', 0, self.jid, ...) end
function QlessRecurringJob:untag(...) return run_decoded('recur.untag', 0, self.jid, ...) end
function QlessRecurringJob:unrecur() return run_command('unrecur', 0, self.jid) end
