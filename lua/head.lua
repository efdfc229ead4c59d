--!df flags=allow-undeclared-keys
-- Begins the script. Redis runs the whole text from scratch at each call, so nothing is built here. The join
-- wraps the files of lib/, check/ and command/ in one function: `need(name)` builds a shared function,
-- `need(name, true)` a command. `need` keeps nothing: for a loop, call it once, before the loop.
-- A dry run replaces `redis`. `php` tells whether the script is for qless-php, `tagged` whether the prefix has a
-- hash tag: then the script has no first line, which lets a Dragonfly run calls that name no keys.
local redis, php, tagged = redis, false, false
