# Completion of fxt, fxtrun and fxtctl for fish. The programs list their commands and
# options (--completion), so this file knows none of them.

# The functions of a trace. A trace that takes longer to read is not waited for.
function __fxt_functions
    set -l trace trace.fxt
    for word in (commandline -opc)
        string match -q '*.fxt*' -- $word; and test -r $word; and set trace $word
    end
    test -r $trace; or return
    timeout 3 fxt sql --csv 'select distinct name from functions limit 2000' $trace 2>/dev/null |
        string replace -rf '^rows,"(.*)"$' '$1' | string replace -a '""' '"'
end

function __fxt_sessions
    fxtctl list 2>/dev/null | awk 'NR > 1 { print $1 }'
end

# Completes the value of an option, by its name and its argument's name, behind a prefix.
function __fxt_value -a prefix option argument
    set -l values
    if contains -- $option --function= --under= --slow= --callers= --callees=; or string match -q '*PATTERN*' -- $argument
        set values (__fxt_functions)
    else if test $option = --session=
        set values (__fxt_sessions)
    else if test $option = --to=
        set values (fxt export --help | string replace -rf '^  ([a-z][a-z-]*)  .*' '$1')
    else if string match -qr 'FILE|OUT' -- $argument
        set -l token (string replace -- $prefix '' (commandline -ct))
        set values (__fish_complete_path $token | string replace -r '\t.*' '')
    end
    test (count $values) -gt 0; and printf "$prefix%s\n" $values
end

# Offers the options that a program lists, and their values.
function __fxt_options
    set -l current (commandline -ct)
    $argv --completion 2>/dev/null | while read -l line
        set -l fields (string split \t -- $line)
        if string match -q -- '*=' $fields[1]; and string match -q -- "$fields[1]*" $current
            __fxt_value $fields[1] $fields[1] "$fields[2]"
        else if string match -q -- '--*' $fields[1]
            printf '%s\t%s\n' $fields[1] "$fields[3]"
        end
    end
end

# The command of fxt or fxtctl on the command line.
function __fxt_command
    set -l words (commandline -opc)
    set -l skip 1
    for word in $words
        if test $skip = 1
            set skip 0
        else if test $word = --session
            set skip 1
        else if not string match -q -- '-*' $word
            echo $word
            return
        end
    end
end

function __fxt_complete -a program
    set -l current (commandline -ct)
    set -l command (__fxt_command)
    set -l words (commandline -opc)
    if test $words[-1] = --session
        __fxt_sessions
    else if test -z "$command"; and string match -q -- '-*' $current
        __fxt_options $program
    else if test -z "$command" -o "$command" = help
        $program --completion | string match -v -- '-*' | string replace \t\t \t
    else if string match -q -- '-*' $current
        __fxt_options $program $command
    else if test $program = fxt
        contains $command slow why; and __fxt_functions
        __fish_complete_path $current | string match -r '.*(?:/|\.fxt|\.fxt\.zst|\.fxt\.gz)(?:\t.*)?$'
    else if test $words[-1] = -o
        __fish_complete_path $current
    end
end

# fxtrun: its options, then a program with its own completion.
function __fxt_complete_run
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l with (fxtrun --completion | string replace -rf '^(--?[^\t=]*)=?\t([^\t]+)\t.*' '$1 $2')
    set -l i 2
    set -l argument
    while test $i -le (count $words); and string match -q -- '-*' $words[$i]
        set argument (string replace -f -- "$words[$i] " '' $with)
        test $words[$i] = --; and set i (math $i + 1); and break
        test -n "$argument"; and set i (math $i + 1)
        set i (math $i + 1)
    end
    if test $i -gt (math (count $words) + 1)
        __fxt_value '' X= "$argument"
    else if test $i -le (count $words)
        complete -C (string join ' ' -- (string escape -- $words[$i..-1]) $current)
    else if string match -q -- '-*' $current
        __fxt_options fxtrun
    else
        complete -C "$current"
    end
end

complete -c fxt -e
complete -c fxtctl -e
complete -c fxtrun -e
complete -c fxt -f -a '(__fxt_complete fxt)'
complete -c fxtctl -f -a '(__fxt_complete fxtctl)'
complete -c fxtrun -f -a '(__fxt_complete_run)'
