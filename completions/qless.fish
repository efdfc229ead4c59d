# Names of queues, jobs and so on: the binary asks the server for them. Commands and flags need
# nobody.
function __fish_qless_names
    test "$QLESS_COMPLETE_LIVE" = 0
    and return
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    command $words[1] __names fish $words "$word" 2>/dev/null </dev/null
end

# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_qless_global_optspecs
    string join \n redis= context= config= prefix= password-file= askpass timeout= o/output= columns= sort= reverse headers= time-format= color= no-pager force-raw y/yes confirm= no-input read-only q/quiet v/verbose h/help V/version
end

function __fish_qless_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_qless_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_qless_using_subcommand
    set -l cmd (__fish_qless_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c qless -n "__fish_qless_needs_command" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_needs_command" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_needs_command" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_needs_command" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_needs_command" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_needs_command" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_needs_command" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_needs_command" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_needs_command" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_needs_command" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_needs_command" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_needs_command" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_needs_command" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_needs_command" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_needs_command" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_needs_command" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_needs_command" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_needs_command" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_needs_command" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_needs_command" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_needs_command" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_needs_command" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_needs_command" -s V -l version -d 'Print version'
complete -c qless -n "__fish_qless_needs_command" -f -a "queues" -d 'Show the queues and how many jobs each holds in which state'
complete -c qless -n "__fish_qless_needs_command" -f -a "jobs" -d 'List jobs'
complete -c qless -n "__fish_qless_needs_command" -f -a "get" -d 'Show jobs in full'
complete -c qless -n "__fish_qless_needs_command" -f -a "peek" -d 'Show the next jobs that a pop would return'
complete -c qless -n "__fish_qless_needs_command" -f -a "workers" -d 'Show the workers, or the jobs of one'
complete -c qless -n "__fish_qless_needs_command" -f -a "stats" -d 'Show what happened in a queue on a day, or day by day'
complete -c qless -n "__fish_qless_needs_command" -f -a "length" -d 'Print how many jobs a queue holds'
complete -c qless -n "__fish_qless_needs_command" -f -a "put" -d 'Put a job into a queue, or many from a file'
complete -c qless -n "__fish_qless_needs_command" -f -a "recur" -d 'Show and change recurring jobs'
complete -c qless -n "__fish_qless_needs_command" -f -a "priority" -d 'Give jobs another priority; higher runs first'
complete -c qless -n "__fish_qless_needs_command" -f -a "tag" -d 'Tag jobs, or show the most used tags'
complete -c qless -n "__fish_qless_needs_command" -f -a "track" -d 'Track jobs, or show the tracked ones'
complete -c qless -n "__fish_qless_needs_command" -f -a "depends" -d 'Show what a job waits for and what waits for it, or change it'
complete -c qless -n "__fish_qless_needs_command" -f -a "move" -d 'Move jobs to another queue'
complete -c qless -n "__fish_qless_needs_command" -f -a "promote" -d 'Run scheduled jobs now'
complete -c qless -n "__fish_qless_needs_command" -f -a "log" -d 'Append a line to a job\'s history'
complete -c qless -n "__fish_qless_needs_command" -f -a "failed" -d 'Show the groups of failed jobs, or the jobs of some'
complete -c qless -n "__fish_qless_needs_command" -f -a "retry" -d 'Run jobs again'
complete -c qless -n "__fish_qless_needs_command" -f -a "cancel" -d 'Delete jobs'
complete -c qless -n "__fish_qless_needs_command" -f -a "timeout" -d 'Take the locks of running jobs away'
complete -c qless -n "__fish_qless_needs_command" -f -a "fail" -d 'Fail running jobs'
complete -c qless -n "__fish_qless_needs_command" -f -a "unfail" -d 'Move the oldest failed jobs of a group to one queue'
complete -c qless -n "__fish_qless_needs_command" -f -a "check" -d 'Find what is damaged, as a file-system check does'
complete -c qless -n "__fish_qless_needs_command" -f -a "pop" -d 'Take the next jobs of queues, to work them'
complete -c qless -n "__fish_qless_needs_command" -f -a "complete" -d 'Complete a job, or hand it on to another queue'
complete -c qless -n "__fish_qless_needs_command" -f -a "heartbeat" -d 'Push the end of a job\'s lock back'
complete -c qless -n "__fish_qless_needs_command" -f -a "pause" -d 'Keep workers from taking jobs of queues'
complete -c qless -n "__fish_qless_needs_command" -f -a "unpause" -d 'Let workers take jobs of queues again'
complete -c qless -n "__fish_qless_needs_command" -f -a "forget" -d 'Take queues or workers off the lists of known ones'
complete -c qless -n "__fish_qless_needs_command" -f -a "config" -d 'Show and change the options of the core'
complete -c qless -n "__fish_qless_needs_command" -f -a "export" -d 'Write jobs with all that it takes to put them again'
complete -c qless -n "__fish_qless_needs_command" -f -a "import" -d 'Bring back the jobs of an export'
complete -c qless -n "__fish_qless_needs_command" -f -a "context" -d 'Look after the settings by name in the config file'
complete -c qless -n "__fish_qless_needs_command" -f -a "local" -d 'Look after the private Redis of `--redis local:`'
complete -c qless -n "__fish_qless_needs_command" -f -a "api" -d 'Make a call of the core by its own name'
complete -c qless -n "__fish_qless_needs_command" -f -a "script" -d 'Print the Lua core, for clients of other languages to load'
complete -c qless -n "__fish_qless_needs_command" -f -a "completions" -d 'Print the script that lets a shell complete `qless`'
complete -c qless -n "__fish_qless_needs_command" -f -a "man" -d 'Print a manual page, or write them all'
complete -c qless -n "__fish_qless_needs_command" -f -a "help" -d 'Print the help of a command, or about a topic'
complete -c qless -n "__fish_qless_needs_command" -f -a "version" -d 'Print the version of the binary, its commit and the name of its core'
complete -c qless -n "__fish_qless_using_subcommand queues" -l watch -d 'Show it anew every 2 s, or every D, until Ctrl-C; with `-o ndjson` a document each time' -r
complete -c qless -n "__fish_qless_using_subcommand queues" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand queues" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand queues" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand queues" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand queues" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand queues" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand queues" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand queues" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand queues" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand queues" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand queues" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand queues" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand queues" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand queues" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand queues" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand queues" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand queues" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand queues" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand queues" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand queues" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand queues" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand queues" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand queues" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand jobs" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l watch -d 'Show it anew every 2 s, or every D, until Ctrl-C; with `-o ndjson` a document each time' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand jobs" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand jobs" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand jobs" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand jobs" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand jobs" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l count -d 'Print only how many there are in each state'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand jobs" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand jobs" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand jobs" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand jobs" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand jobs" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand get" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand get" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand get" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand get" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand get" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand get" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l field -d 'Print only one value, such as `failure.message` or `data.user`' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand get" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand get" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand get" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand get" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand get" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand get" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand get" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand get" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand get" -l history -d 'With histories, also in lists'
complete -c qless -n "__fish_qless_using_subcommand get" -l data -d 'Print only the data, byte for byte'
complete -c qless -n "__fish_qless_using_subcommand get" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand get" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand get" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand get" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand get" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand get" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand get" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand get" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand get" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand get" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand peek" -l count -d 'How many jobs at most' -r
complete -c qless -n "__fish_qless_using_subcommand peek" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand peek" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand peek" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand peek" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand peek" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand peek" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand peek" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand peek" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand peek" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand peek" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand peek" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand peek" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand peek" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand peek" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand peek" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand peek" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand peek" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand peek" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand peek" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand peek" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand peek" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand peek" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand peek" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand workers" -l watch -d 'Show it anew every 2 s, or every D, until Ctrl-C; with `-o ndjson` a document each time' -r
complete -c qless -n "__fish_qless_using_subcommand workers" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand workers" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand workers" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand workers" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand workers" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand workers" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand workers" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand workers" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand workers" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand workers" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand workers" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand workers" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand workers" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand workers" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand workers" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand workers" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand workers" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand workers" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand workers" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand workers" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand workers" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand workers" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand workers" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand stats" -l day -d 'The day: `2026-11-20`, `today` or `yesterday`' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -l days -d 'The last N days up to today, at most 366: a line for each' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -l histogram -d 'Whose histogram to show; in a pipe a line for each of its buckets that holds jobs' -r -f -a "wait\t'How long jobs waited'
run\t'How long jobs ran'"
complete -c qless -n "__fish_qless_using_subcommand stats" -l watch -d 'Show it anew every 2 s, or every D, until Ctrl-C; with `-o ndjson` a document each time' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand stats" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand stats" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand stats" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand stats" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand stats" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand stats" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand stats" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand stats" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand stats" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand stats" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand stats" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand stats" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand stats" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand stats" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand length" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand length" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand length" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand length" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand length" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand length" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand length" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand length" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand length" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand length" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand length" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand length" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand length" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand length" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand length" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand length" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand length" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand length" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand length" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand length" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand length" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand length" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand length" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand put" -l data -d 'The data: JSON, `@FILE`, or `-` for stdin' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l arg -d 'A member of the data: `key=text` or `key:=json`; dots in the key nest' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l max-data -d 'The most data that is taken, in bytes' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l jid -d 'The job\'s id; a fresh one where nothing is said' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l delay -d 'Run it after this time, such as `10m`' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l at -d 'Run it at this time: `06:00`, `2026-11-21 06:00`, `2026-11-21T06:00:00Z`' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l priority -d 'Higher runs first' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l tag -d 'A tag' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand put" -l retries -d 'How often it may be tried again' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l depends -d 'A job that must be complete first' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand put" -l jid-from -d 'Where the jids of lines come from: `content`, or a place in the data such as `user.id`' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l from -d 'Put a job for each line of this file, a JSON object; `-` is stdin' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l journal -d 'Note each line in this file; the same command with the same file skips those that are done' -r -F
complete -c qless -n "__fish_qless_using_subcommand put" -l batch -d 'As many jobs as one call puts [default: 200]' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l rate -d 'At most so many jobs a second, such as `500/s`' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand put" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand put" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand put" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand put" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand put" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand put" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand put" -l if-absent -d 'Leave a job of this id as it is'
complete -c qless -n "__fish_qless_using_subcommand put" -l replace -d 'Put a job of this id again, taking it from a worker if need be'
complete -c qless -n "__fish_qless_using_subcommand put" -l allow-missing -d 'Wait only for those dependencies that exist'
complete -c qless -n "__fish_qless_using_subcommand put" -l fail-fast -d 'Stop at the first line that fails'
complete -c qless -n "__fish_qless_using_subcommand put" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand put" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand put" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand put" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand put" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand put" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand put" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand put" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand put" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand put" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand put" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -f -a "get" -d 'Show recurring jobs in full'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -f -a "list" -d 'List recurring jobs'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -f -a "put" -d 'Make a recurring job'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -f -a "rm" -d 'Remove recurring jobs'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -f -a "run" -d 'Put one job of a recurring job now'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -f -a "set" -d 'Change a recurring job'
complete -c qless -n "__fish_qless_using_subcommand recur; and not __fish_seen_subcommand_from get list put rm run set tag" -f -a "tag" -d 'Tag a recurring job'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l data -d 'The data: JSON, `@FILE`, or `-` for stdin' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l arg -d 'A member of the data: `key=text` or `key:=json`; dots in the key nest' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l max-data -d 'The most data that is taken, in bytes' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l every -d 'How often' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l offset -d 'The first one after this time' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l at -d 'The first one at this time' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l backlog -d 'The most missed runs that are made up for; 0 is all' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l jid -d 'The id of the recurring job; a fresh one where nothing is said' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l priority -d 'Higher runs first' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l tag -d 'A tag' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l retries -d 'How often each may be tried again' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l if-absent -d 'Leave one of this id as it is'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l replace -d 'Make one of this id anew; only its count is kept'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from put" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l every -d 'How often; the next run is shifted by as much' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l queue -d 'The queue' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l klass -d 'The kind of work' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l data -d 'The data: JSON, `@FILE`, or `-` for stdin' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l max-data -d 'The most data that is taken, in bytes' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l priority -d 'Higher runs first' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l retries -d 'How often each may be tried again' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l backlog -d 'The most missed runs that are made up for; 0 is all' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l add -d 'Add a tag' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l remove -d 'Remove a tag' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand recur; and __fish_seen_subcommand_from tag" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand priority" -l to -d 'The new priority; higher runs first' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand priority" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand priority" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand priority" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand priority" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand priority" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand priority" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand priority" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand priority" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand priority" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand priority" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand priority" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand priority" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand priority" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand priority" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand priority" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand priority" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand priority" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand priority" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand priority" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand priority" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand priority" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand priority" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand priority" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand priority" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand priority" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand priority" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand priority" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand tag" -l add -d 'Add a tag' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand tag" -l remove -d 'Remove a tag' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand tag" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand tag" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand tag" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand tag" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand tag" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand tag" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand tag" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand tag" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand tag" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand tag" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand tag" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand tag" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand tag" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand tag" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand tag" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand tag" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand tag" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand tag" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand tag" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand tag" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand tag" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand tag" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand tag" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand tag" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand tag" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand tag" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand tag" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand track" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand track" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand track" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand track" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand track" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand track" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand track" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l watch -d 'Show it anew every 2 s, or every D, until Ctrl-C; with `-o ndjson` a document each time' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand track" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand track" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand track" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand track" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand track" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand track" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand track" -l remove -d 'Track them no longer'
complete -c qless -n "__fish_qless_using_subcommand track" -l prune -d 'Drop tracked jobs that no longer exist'
complete -c qless -n "__fish_qless_using_subcommand track" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand track" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand track" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand track" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand track" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand track" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand track" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand track" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand track" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand track" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand track" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand track" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand track" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand track" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand track" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand depends" -l on -d 'Let it wait for further jobs: for all of them, or for none' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand depends" -l off -d 'Let it no longer wait for these' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand depends" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand depends" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand depends" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand depends" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand depends" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand depends" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand depends" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand depends" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand depends" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand depends" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand depends" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand depends" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand depends" -l off-all -d 'Let it no longer wait for anything'
complete -c qless -n "__fish_qless_using_subcommand depends" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand depends" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand depends" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand depends" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand depends" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand depends" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand depends" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand depends" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand depends" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand depends" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand depends" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand depends" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand depends" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand depends" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand depends" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand move" -l to -d 'The queue' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand move" -l delay -d 'Run it after this time, such as `10m`' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l at -d 'Run it at this time: `06:00`, `2026-11-21 06:00`, `2026-11-21T06:00:00Z`' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand move" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l spread -d 'Let them run evenly over this time instead of all at once' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand move" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand move" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand move" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand move" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand move" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand move" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand move" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand move" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand move" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand move" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand move" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand move" -l force -d 'Running jobs, too: their lock is taken away'
complete -c qless -n "__fish_qless_using_subcommand move" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand move" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand move" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand move" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand move" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand move" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand move" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand move" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand move" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand move" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand move" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand move" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand move" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand move" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand move" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand promote" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand promote" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l spread -d 'Let them run evenly over this time instead of all at once' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand promote" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand promote" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand promote" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand promote" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand promote" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand promote" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand promote" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand promote" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand promote" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand promote" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand promote" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand promote" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand promote" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand promote" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand promote" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand promote" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand promote" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand promote" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand promote" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand promote" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand promote" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand promote" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand promote" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand promote" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand promote" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand log" -l data -d 'What else there is to say: a JSON object, `@FILE`, or `-` for stdin' -r
complete -c qless -n "__fish_qless_using_subcommand log" -l max-data -d 'The most data that is taken, in bytes' -r
complete -c qless -n "__fish_qless_using_subcommand log" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand log" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand log" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand log" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand log" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand log" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand log" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand log" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand log" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand log" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand log" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand log" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand log" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand log" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand log" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand log" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand log" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand log" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand log" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand log" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand log" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand log" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand log" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand failed" -l to -d 'With `--retry-all`: into this queue instead of their own' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand failed" -l delay -d 'With `--retry-all`: run them after this time' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand failed" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l spread -d 'Let them run evenly over this time instead of all at once' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand failed" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand failed" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand failed" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand failed" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand failed" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l watch -d 'Show it anew every 2 s, or every D, until Ctrl-C; with `-o ndjson` a document each time' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand failed" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand failed" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand failed" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand failed" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand failed" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand failed" -l retry-all -d 'Retry them, each in its own queue'
complete -c qless -n "__fish_qless_using_subcommand failed" -l cancel-all -d 'Cancel them'
complete -c qless -n "__fish_qless_using_subcommand failed" -l all-groups -d 'All groups'
complete -c qless -n "__fish_qless_using_subcommand failed" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand failed" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand failed" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand failed" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand failed" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand failed" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand failed" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand failed" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand failed" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand failed" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand failed" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand failed" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand failed" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand failed" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand failed" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand retry" -l to -d 'Into this queue instead of their own' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand retry" -l delay -d 'Run them after this time' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l priority -d 'Give them another priority; higher runs first' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l worker -d 'The worker that holds the job [QLESS_WORKER; default cli-USER@HOST]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand retry" -l fail-group -d 'What kind of failure it was, recorded with the holder\'s retry' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand retry" -l fail-message -d 'What went wrong, recorded with the holder\'s retry' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand retry" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l spread -d 'Let them run evenly over this time instead of all at once' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand retry" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand retry" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand retry" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand retry" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand retry" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand retry" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand retry" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand retry" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand retry" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand retry" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand retry" -l completed -d 'Complete jobs, too'
complete -c qless -n "__fish_qless_using_subcommand retry" -l force -d 'Running jobs, too: their lock is taken away, no try is spent'
complete -c qless -n "__fish_qless_using_subcommand retry" -l as-holder -d 'Act in the name of whichever worker holds the job'
complete -c qless -n "__fish_qless_using_subcommand retry" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand retry" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand retry" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand retry" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand retry" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand retry" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand retry" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand retry" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand retry" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand retry" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand retry" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand retry" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand retry" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand retry" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand retry" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l dependents -d 'What to do about jobs that wait for one of these' -r -f -a "refuse\t'Do not cancel the job'
cancel\t'Cancel them, too, and all that wait for them'
release\t'Let them no longer wait for it'"
complete -c qless -n "__fish_qless_using_subcommand cancel" -l save -d 'Write the jobs to this file before they are deleted, for `qless import`' -r -F
complete -c qless -n "__fish_qless_using_subcommand cancel" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand cancel" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand cancel" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand cancel" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand cancel" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand cancel" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand cancel" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand cancel" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand cancel" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand cancel" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand cancel" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand cancel" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand cancel" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand timeout" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand timeout" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand timeout" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand timeout" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand timeout" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand timeout" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand timeout" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand timeout" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand timeout" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand timeout" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand timeout" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand timeout" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand fail" -l group -d 'What kind of failure it is' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand fail" -l message -d 'What went wrong: text, `@FILE`, or `-` for stdin' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l data -d 'The job\'s data from now on: JSON, `@FILE`, or `-` for stdin' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l max-data -d 'The most data that is taken, in bytes' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l worker -d 'The worker that holds the job [QLESS_WORKER; default cli-USER@HOST]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand fail" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand fail" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand fail" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand fail" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand fail" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand fail" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand fail" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand fail" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand fail" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand fail" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand fail" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand fail" -l as-holder -d 'Act in the name of whichever worker holds the job'
complete -c qless -n "__fish_qless_using_subcommand fail" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand fail" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand fail" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand fail" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand fail" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand fail" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand fail" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand fail" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand fail" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand fail" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand fail" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand fail" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand fail" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand fail" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand fail" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand unfail" -l to -d 'The queue' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand unfail" -l count -d 'At most so many jobs' -r
complete -c qless -n "__fish_qless_using_subcommand unfail" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand unfail" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand unfail" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand unfail" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand unfail" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand unfail" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand unfail" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand unfail" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand unfail" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand unfail" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand unfail" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand unfail" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand unfail" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand unfail" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand unfail" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand unfail" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand unfail" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand unfail" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand unfail" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand unfail" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand unfail" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand unfail" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand unfail" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand unfail" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand check" -l queue -d 'Only what belongs to a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand check" -l only -d 'Only these findings; `all` names every one' -r -f -a "all\t''
ghost-waiting\t''
ghost-lock\t''
ghost-scheduled\t''
ghost-depends\t''
ghost-recurring\t''
in-two-sets\t''
in-foreign-queue\t''
in-no-set\t''
queue-unlisted\t''
queue-empty\t''
queue-stuck\t''
over-limit\t''
job-stub\t''
job-unreadable\t''
field-leftover\t''
remaining\t''
score\t''
clock\t''
running-without-lock\t''
lock-without-run\t''
worker-stray\t''
worker-gap\t''
worker-unknown\t''
dependency-missing\t''
dependency-complete\t''
dependency-one-sided\t''
dependency-cycle\t''
depends-on-nothing\t''
depends-on-failed\t''
failed-stray\t''
failed-unlisted\t''
failed-twice\t''
group-set\t''
failed-counter\t''
completed-stray\t''
completed-unlisted\t''
tag-index\t''
tag-count\t''
tracked-gone\t''
recurring-unscheduled\t''
recurring-foreign\t''
recurring-invalid\t''
recurring-count\t''
key-type\t''
key-expires\t''
server-evicts\t''
key-unknown\t''
history-orphan\t''
edges-orphan\t''
lost-key\t''
stats-sum\t''
config-value\t''
not-judged\t''"
complete -c qless -n "__fish_qless_using_subcommand check" -l skip -d 'Not these findings' -r -f -a "ghost-waiting\t''
ghost-lock\t''
ghost-scheduled\t''
ghost-depends\t''
ghost-recurring\t''
in-two-sets\t''
in-foreign-queue\t''
in-no-set\t''
queue-unlisted\t''
queue-empty\t''
queue-stuck\t''
over-limit\t''
job-stub\t''
job-unreadable\t''
field-leftover\t''
remaining\t''
score\t''
clock\t''
running-without-lock\t''
lock-without-run\t''
worker-stray\t''
worker-gap\t''
worker-unknown\t''
dependency-missing\t''
dependency-complete\t''
dependency-one-sided\t''
dependency-cycle\t''
depends-on-nothing\t''
depends-on-failed\t''
failed-stray\t''
failed-unlisted\t''
failed-twice\t''
group-set\t''
failed-counter\t''
completed-stray\t''
completed-unlisted\t''
tag-index\t''
tag-count\t''
tracked-gone\t''
recurring-unscheduled\t''
recurring-foreign\t''
recurring-invalid\t''
recurring-count\t''
key-type\t''
key-expires\t''
server-evicts\t''
key-unknown\t''
history-orphan\t''
edges-orphan\t''
lost-key\t''
stats-sum\t''
config-value\t''
not-judged\t''"
complete -c qless -n "__fish_qless_using_subcommand check" -l max-examples -d 'How many examples of each finding are shown' -r
complete -c qless -n "__fish_qless_using_subcommand check" -l rate -d 'At most so many keys and members of indexes a second, each time one is read, judged or mended, such as `5000/s`' -r
complete -c qless -n "__fish_qless_using_subcommand check" -l fail-on -d 'From which severity on findings are exit 7: critical, error, warn or info' -r -f -a "critical\t''
error\t''
warn\t''
info\t''"
complete -c qless -n "__fish_qless_using_subcommand check" -l undo -d 'With `--repair`: write what is there before it is changed to this file' -r -F
complete -c qless -n "__fish_qless_using_subcommand check" -l revert -d 'Put back what a repair changed, from the file of its `--undo`, where nothing has changed since' -r -F
complete -c qless -n "__fish_qless_using_subcommand check" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand check" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand check" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand check" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand check" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand check" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand check" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand check" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand check" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand check" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand check" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand check" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand check" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand check" -l repair -d 'Mend what was found, after showing the plan and asking'
complete -c qless -n "__fish_qless_using_subcommand check" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand check" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand check" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand check" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand check" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand check" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand check" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand check" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand check" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand check" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand pop" -l count -d 'At most so many jobs' -r
complete -c qless -n "__fish_qless_using_subcommand pop" -l worker -d 'The worker that takes them [QLESS_WORKER; default cli-USER@HOST]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand pop" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand pop" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand pop" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand pop" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand pop" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand pop" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand pop" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand pop" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand pop" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand pop" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand pop" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand pop" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand pop" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand pop" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand pop" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand pop" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand pop" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand pop" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand pop" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand pop" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand pop" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand pop" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand pop" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand pop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand complete" -l data -d 'The job\'s data from now on: JSON, `@FILE`, or `-` for stdin' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l max-data -d 'The most data that is taken, in bytes' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l next -d 'Put the job into this queue instead of ending it' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand complete" -l delay -d 'Run it after this time, such as `10m`' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l at -d 'Run it at this time: `06:00`, `2026-11-21 06:00`, `2026-11-21T06:00:00Z`' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l depends -d 'A job that must be complete first' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand complete" -l worker -d 'The worker that holds the job [QLESS_WORKER; default cli-USER@HOST]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand complete" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand complete" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand complete" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand complete" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand complete" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand complete" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand complete" -l as-holder -d 'Act in the name of whichever worker holds the job'
complete -c qless -n "__fish_qless_using_subcommand complete" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand complete" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand complete" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand complete" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand complete" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand complete" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand complete" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand complete" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand complete" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand complete" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand complete" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l data -d 'The job\'s data from now on: JSON, `@FILE`, or `-` for stdin' -r
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l max-data -d 'The most data that is taken, in bytes' -r
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l worker -d 'The worker that holds the job [QLESS_WORKER; default cli-USER@HOST]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l as-holder -d 'Act in the name of whichever worker holds the job'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand pause" -l until -d 'End the pause at this time' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -l for -d 'End the pause after this time' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -l reason -d 'Why, for those who look' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand pause" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand pause" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand pause" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand pause" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand pause" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand pause" -l all -d 'All of them'
complete -c qless -n "__fish_qless_using_subcommand pause" -l stop-running -d 'Take the locks of running jobs away'
complete -c qless -n "__fish_qless_using_subcommand pause" -l force -d 'Unknown queues, too'
complete -c qless -n "__fish_qless_using_subcommand pause" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand pause" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand pause" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand pause" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand pause" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand pause" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand pause" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand pause" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand pause" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand pause" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand pause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand unpause" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand unpause" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand unpause" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand unpause" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand unpause" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand unpause" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand unpause" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand unpause" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand unpause" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand unpause" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand unpause" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand unpause" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand unpause" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand unpause" -l all -d 'All of them'
complete -c qless -n "__fish_qless_using_subcommand unpause" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand unpause" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand unpause" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand unpause" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand unpause" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand unpause" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand unpause" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand unpause" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand unpause" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand unpause" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand unpause" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -f -a "queue" -d 'Take queues off the list of known ones'
complete -c qless -n "__fish_qless_using_subcommand forget; and not __fish_seen_subcommand_from queue worker" -f -a "worker" -d 'Take workers off the list of known ones'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l force -d 'Also with something in it'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from queue" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand forget; and __fish_seen_subcommand_from worker" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -f -a "get" -d 'Print the value of an option'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -f -a "list" -d 'Show the options with their defaults and what they mean'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -f -a "set" -d 'Set options'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -f -a "unset" -d 'Give options their defaults back'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -f -a "dump" -d 'Write the options that are set as a JSON object'
complete -c qless -n "__fish_qless_using_subcommand config; and not __fish_seen_subcommand_from get list set unset dump load" -f -a "load" -d 'Set options as a JSON file says'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from get" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l all -d 'Also options that nothing reads'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l force -d 'Unknown options, too'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from set" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from unset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from dump" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l max-data -d 'The most data that is taken, in bytes' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l clear -d 'Give options that the file does not name their defaults back'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l force -d 'Unknown options, too'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand config; and __fish_seen_subcommand_from load" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand export" -l queue -d 'Jobs of a queue, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand export" -l state -d 'Jobs in a state' -r -f -a "running\t''
stalled\t''
waiting\t''
scheduled\t''
depends\t''
failed\t''
complete\t''"
complete -c qless -n "__fish_qless_using_subcommand export" -l tag -d 'Jobs with a tag; repeated: with all of them' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand export" -l klass -d 'Jobs of a class, by name or glob' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l held-by -d 'Jobs whose lock a worker has, run out or not, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand export" -l older-than -d 'Jobs to which nothing has happened for this time' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l newer-than -d 'Jobs to which something happened within this time' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l where -d 'Jobs with this value in their data, such as `user.id=42`; repeated: with all of them' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l limit -d 'The first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l offset -d 'Without the first N of them' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l group -d 'Failed jobs of a group, by name or glob' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand export" -l message -d 'Failed jobs whose message a regular expression finds itself in' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l with -d 'What to write besides jobs' -r -f -a "config\t'The options that are set'
recur\t'Recurring jobs'
paused\t'Which queues are paused, until when and why'"
complete -c qless -n "__fish_qless_using_subcommand export" -l file -d 'The file to write; stdout otherwise' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand export" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand export" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand export" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand export" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand export" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand export" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand export" -l tracked -d 'Tracked jobs'
complete -c qless -n "__fish_qless_using_subcommand export" -l all -d 'All jobs, where no other flag narrows them down'
complete -c qless -n "__fish_qless_using_subcommand export" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand export" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand export" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand export" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand export" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand export" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand export" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand export" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand export" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand import" -l map-queue -d 'Put what was in one queue into another' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l failed -d 'How failed jobs come back' -r -f -a "keep\t'As failed, in their group'
waiting\t'To be run again, with fresh retries'
skip\t'Not at all'"
complete -c qless -n "__fish_qless_using_subcommand import" -l rate -d 'At most so many jobs a second, such as `20/s`' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l reason -d 'Why, for the history of each job' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l report -d 'Note what becomes of each job in this file; the same command with the same file skips those that are done (`--limit` counts anew)' -r -F
complete -c qless -n "__fish_qless_using_subcommand import" -l wait-replicas -d 'Wait until so many replicas have what was changed, as long as `--timeout`' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand import" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand import" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand import" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand import" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand import" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand import" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand import" -l if-absent -d 'Leave jobs that exist as they are'
complete -c qless -n "__fish_qless_using_subcommand import" -l replace -d 'Put jobs that exist again; a worker that holds one loses it'
complete -c qless -n "__fish_qless_using_subcommand import" -l allow-missing -d 'Let jobs run that wait for ones that do not exist'
complete -c qless -n "__fish_qless_using_subcommand import" -l hold -d 'Pause the queues first, so that nothing runs'
complete -c qless -n "__fish_qless_using_subcommand import" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand import" -l fail-fast -d 'Stop at the first job that fails'
complete -c qless -n "__fish_qless_using_subcommand import" -l require-match -d 'Exit with 4 if no job matches'
complete -c qless -n "__fish_qless_using_subcommand import" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand import" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand import" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand import" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand import" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand import" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand import" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand import" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand import" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -f -a "list" -d 'List the contexts'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -f -a "show" -d 'Show one context: address, prefix, where the password comes from, what it forbids'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -f -a "use" -d 'Make a context the default one'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -f -a "add" -d 'Add a context to the config file'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -f -a "remove" -d 'Remove a context from the config file'
complete -c qless -n "__fish_qless_using_subcommand context; and not __fish_seen_subcommand_from list show use add remove validate" -f -a "validate" -d 'Connect as contexts say, and tell whether that works'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from use" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l label -d 'What prompts call it; else its name' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l password-command -d 'Program and arguments that print the password' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l password-env -d 'Environment variable that holds the password' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l protected -d 'Have writes to many jobs ask for the label'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from add" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -s n -l dry-run -d 'Show what would be done, change nothing'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from remove" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand context; and __fish_seen_subcommand_from validate" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -f -a "status" -d 'Print whether it runs, its pid, directory and address, jobs and size on disk'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -f -a "start" -d 'Start it, if it does not run'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -f -a "stop" -d 'Have it save its data and end'
complete -c qless -n "__fish_qless_using_subcommand local; and not __fish_seen_subcommand_from status start stop url" -f -a "url" -d 'Print its address for other clients'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from start" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from stop" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand local; and __fish_seen_subcommand_from url" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand api" -l now -d 'The time of the call, instead of the server\'s' -r
complete -c qless -n "__fish_qless_using_subcommand api" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand api" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand api" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand api" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand api" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand api" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand api" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand api" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand api" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand api" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand api" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand api" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand api" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand api" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand api" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand api" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand api" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand api" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand api" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand api" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand api" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand api" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand api" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand script" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand script" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand script" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand script" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand script" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand script" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand script" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand script" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand script" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand script" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand script" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand script" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand script" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand script" -l lib -d 'Print the library form: no commands, but the names that plugins use'
complete -c qless -n "__fish_qless_using_subcommand script" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand script" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand script" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand script" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand script" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand script" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand script" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand script" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand script" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand script" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand completions" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand completions" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand completions" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand completions" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand completions" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand completions" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand completions" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand completions" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand completions" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand completions" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand completions" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand completions" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand completions" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand completions" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand completions" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand completions" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand completions" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand completions" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand completions" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand completions" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand completions" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand completions" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand man" -l out -d 'Write the page into this directory; without a command: all pages' -r -F
complete -c qless -n "__fish_qless_using_subcommand man" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand man" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand man" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand man" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand man" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand man" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand man" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand man" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand man" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand man" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand man" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand man" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand man" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand man" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand man" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand man" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand man" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand man" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand man" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand man" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand man" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand man" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand help" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand help" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand help" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand help" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand help" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand help" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand help" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand help" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand help" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand help" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand help" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand help" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand help" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand help" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand help" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand help" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand help" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand help" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand help" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand help" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand help" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand help" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand version" -l redis -d 'Address of the server: `redis://`, `unix://` or `local:` [QLESS_REDIS_URL, REDIS_URL]' -r
complete -c qless -n "__fish_qless_using_subcommand version" -l context -d 'Settings of the config file by name [QLESS_CONTEXT; default as the file says]' -r -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand version" -l config -d 'Config file; `none` reads none [QLESS_CONFIG; default ~/.config/qless/config.toml]' -r
complete -c qless -n "__fish_qless_using_subcommand version" -l prefix -d 'Prefix of all keys and channels [QLESS_PREFIX; default `ql:`]' -r
complete -c qless -n "__fish_qless_using_subcommand version" -l password-file -d 'Read the password from the first line of a file, `-` being stdin [QLESS_REDIS_PASSWORD]' -r
complete -c qless -n "__fish_qless_using_subcommand version" -l timeout -d 'Longest wait to be connected, and for one call [QLESS_TIMEOUT; default 10s]' -r
complete -c qless -n "__fish_qless_using_subcommand version" -s o -l output -d 'What stdout is: table, json, ndjson, jid or raw [QLESS_OUTPUT; default table]' -r -f -a "table\t'For people; its text may change between releases'
json\t'One document, stable'
ndjson\t'The elements of the document, one per line'
jid\t'Only job ids, one per line'
raw\t'The core\'s own reply, byte for byte'"
complete -c qless -n "__fish_qless_using_subcommand version" -l columns -d 'Columns of a table, in order, with commas between' -r
complete -c qless -n "__fish_qless_using_subcommand version" -l sort -d 'Order of a table: the column to sort by' -r
complete -c qless -n "__fish_qless_using_subcommand version" -l headers -d 'Whether a table has headers: auto (on a terminal), always or never' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand version" -l time-format -d 'How moments are written: auto, relative, iso or unix [QLESS_TIME_FORMAT]' -r -f -a "auto\t'Relative on a terminal, else RFC 3339'
relative\t'`4m ago`, `in 2h 5m`'
iso\t'RFC 3339'
unix\t'Seconds since the epoch'"
complete -c qless -n "__fish_qless_using_subcommand version" -l color -d 'Whether to colour: auto (on a terminal), always or never [NO_COLOR, CLICOLOR, CLICOLOR_FORCE]' -r -f -a "auto\t'On a terminal'
always\t''
never\t''"
complete -c qless -n "__fish_qless_using_subcommand version" -l confirm -d 'With `--yes` in a protected context: the label that would have to be typed' -r
complete -c qless -n "__fish_qless_using_subcommand version" -l askpass -d 'Prompt for the password on the terminal'
complete -c qless -n "__fish_qless_using_subcommand version" -l reverse -d 'Turn the order of a table around'
complete -c qless -n "__fish_qless_using_subcommand version" -l no-pager -d 'Show what is longer than the screen without a pager [QLESS_PAGER, PAGER; default less]'
complete -c qless -n "__fish_qless_using_subcommand version" -l force-raw -d 'Do not clean `-o raw` and `get --data` on a terminal'
complete -c qless -n "__fish_qless_using_subcommand version" -s y -l yes -d 'Answer yes to confirmations'
complete -c qless -n "__fish_qless_using_subcommand version" -l no-input -d 'Never prompt, even on a terminal [QLESS_NO_INPUT]'
complete -c qless -n "__fish_qless_using_subcommand version" -l read-only -d 'Refuse whatever may change something; works on a replica [QLESS_READ_ONLY]'
complete -c qless -n "__fish_qless_using_subcommand version" -s q -l quiet -d 'Nothing on stderr except errors'
complete -c qless -n "__fish_qless_using_subcommand version" -s v -l verbose -d 'Each server call with its duration on stderr; twice: with arguments and replies'
complete -c qless -n "__fish_qless_using_subcommand version" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c qless -n "__fish_qless_using_subcommand queues" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand get" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand peek" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand workers" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand stats" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand length" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand put" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand recur" -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand priority" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand tag" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand track" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand depends" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand move" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand promote" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand log" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand retry" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand cancel" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand timeout" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand fail" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand unfail" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand pop" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand complete" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand heartbeat" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand pause" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand unpause" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand forget" -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand config" -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand export" -f -a '(__fish_qless_names)'
complete -c qless -n "__fish_qless_using_subcommand context" -a '(__fish_qless_names)'
