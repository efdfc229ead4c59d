-- Ends the command script: checks the keys, the command name and `now` of a call, in the order of qless-core, so that
-- clients get its errors. Then runs the command.
-- Takes: ARGV: command now arg ...
-- Result: the reply of the command
-- Refuses: keys, except the two that a prefix with a hash tag needs; a missing or unknown command, a `now` that is
--   not a finite number, more than 100000 arguments
if tagged then
  -- Require two keys, which never exist: while a slot moves to another node, both nodes refuse a call with two such
  -- keys. With fewer keys, the new node would run the call on the part of the data that has arrived.
  if KEYS[1] ~= Keys.prefix or KEYS[2] ~= Keys.prefix .. '.' or KEYS[3] then
    error('Two Keys should be provided: ' .. Keys.prefix .. ' and ' .. Keys.prefix .. '.')
  end
elseif KEYS[1] then
  error('No Keys should be provided')
end
local name, t = ARGV[1], ARGV[2]
if not name then error('Must provide a command') end
local run, timeless = need(name, true)
if not run then error('Unknown command ' .. name) end
if not t then error("bad argument #1 to 'tonumber' (value expected)") end
local now = tonumber(t)
if ARGV[100003] then error('More than 100000 args') end
-- Refuse an infinite time and NaN as if they were no numbers: most writing commands would fail half-way with them.
if not now or now - now ~= 0 then error('Arg "now" missing or not a number: nil') end
if timeless then return run(ARGV) end
-- `t` is the time as text for Redis, `seconds` the whole seconds as text. A plain decimal number stays as the caller
-- wrote it. Any other form is converted, since Lua accepts more forms of a number than Redis: blanks, hexadecimal,
-- exponents that underflow, text before a NUL.
local seconds = string.match(t, '^([1-9]%d*)%.?%d*$')
if not seconds then t, seconds = string.format('%.17g', now), '' .. math.floor(now) end
return run(ARGV, now, t, seconds)
