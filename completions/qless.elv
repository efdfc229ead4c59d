# Completion of qless in elvish: `qless __complete` says what can be typed.
#
# Its first line is what else fits the word: files, directories or nothing.

use str

set edit:completion:arg-completer[qless] = {|@words|
    try {
        var lines = [((external $words[0]) __complete elvish $@words 2>/dev/null </dev/null | from-lines)]
        if (not (str:has-prefix $lines[0] names)) {
            edit:complete-filename $words[-1]
        }
        for line $lines[1..] {
            var name help = (str:split &max=2 "\t" $line)
            edit:complex-candidate $name &display=$name' '$help
        }
    } catch error {
        nop $error
    }
}
