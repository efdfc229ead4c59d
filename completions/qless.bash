# Completion of qless in bash: `qless __complete` says what can be typed.
#
# Its first line is what else fits the word: files, directories or nothing.

_qless() {
    local line
    local -a lines=()
    while IFS= read -r line; do
        lines+=("$line")
    done < <(command "$1" __complete bash "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" 2>/dev/null </dev/null)
    COMPREPLY=("${lines[@]:1}")
    case "${lines[0]-}" in
        files*) compopt -o default 2>/dev/null ;;
        directories*) compopt -o dirnames 2>/dev/null ;;
    esac
}

complete -o nosort -F _qless qless 2>/dev/null || complete -o default -F _qless qless
