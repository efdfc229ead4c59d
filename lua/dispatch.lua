-- The last lines of the command script: checks what every call must bring, in the order
-- that clients know, and runs the command.
if KEYS[1] then error('No Keys should be provided') end
local name, t = ARGV[1], ARGV[2]
if not name then error('Must provide a command') end
local run, timeless = need(name, true)
if not run then error('Unknown command ' .. name) end
if not t then error("bad argument #1 to 'tonumber' (value expected)") end
local now = tonumber(t)
-- A time that is not finite would break off most writes half-way, so it is no number here.
if not now or now - now ~= 0 then error('Arg "now" missing or not a number: nil') end
if timeless then return run(ARGV) end
-- `t` is the moment as text for Redis, `when` its whole seconds as text: as the caller wrote them
-- where that is plain. Lua reads more than Redis does (blanks, hexadecimal, exponents that
-- underflow, what stands before a NUL).
local seconds = string.match(t, '^([1-9]%d*)%.?%d*$')
if not seconds then t, seconds = string.format('%.17g', now), '' .. math.floor(now) end
return run(ARGV, now, t, seconds)
