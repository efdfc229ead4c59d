# Completion of qless in fish: `qless __complete` says what can be typed.
#
# Its first line is what else fits the word (files, directories or nothing), and what stands before
# the value in the word, such as `--queue=`.

function __qless_complete
    set -l words (commandline -opc)
    set -l token (commandline -ct)
    set -l word (string unescape -- $token)
    or set word $token
    set -l lines (command $words[1] __complete fish $words "$word" 2>/dev/null </dev/null)
    set -l head (string split -m 1 \t -- $lines[1])
    switch "$head[1]"
        case files directories
            set -l rest (string sub -s (math 1 + (string length -- "$head[2]")) -- "$token")
            # Without a command of this name, fish completes files.
            for path in (complete -C "__qless_files $rest")
                if test $head[1] = files; or string match -q '*/' -- $path
                    printf '%s%s\n' "$head[2]" $path
                end
            end
    end
    set -e lines[1]
    printf '%s\n' $lines
end

complete -c qless -f -k -a '(__qless_complete)'
