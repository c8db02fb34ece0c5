# Completion of fxt, fxtrun and fxtctl for bash. The programs list their commands and
# options (--completion), so this file knows none of them.

# _fxt_functions TRACE: the functions of a trace, by total time. A trace that takes longer
# to read is not waited for.
_fxt_functions()
{
	[ -r "$1" ] && timeout 3 fxt sql --csv 'select distinct name from functions limit 2000' "$1" 2>/dev/null |
		sed -n 's/^rows,"\(.*\)"$/\1/; T; s/""/"/g; p'
}

# _fxt_offer PREFIX: adds the lines of standard input that begin with the word under the
# cursor, each behind PREFIX. The rest of a line behind a tab is help.
_fxt_offer()
{
	local word

	while IFS=$'\t' read -r word _; do
		word=$1$word
		[[ $word == "$cur"* ]] && COMPREPLY+=("$word")
	done
}

# _fxt_files PREFIX: traces and directories, or else any files.
_fxt_files()
{
	local name=${cur#"$1"}

	compopt -o filenames 2>/dev/null # which are quoted by bash
	files=1
	_fxt_offer "$1" < <(
		for ending in fxt fxt.zst fxt.gz; do compgen -f -X "!*.$ending" -- "$name"; done
		compgen -d -- "$name"
	)
	[ ${#COMPREPLY[@]} -gt 0 ] || _fxt_offer "$1" < <(compgen -f -- "$name")
}

# _fxt_value OPTION= ARGUMENT TRACE: completes the value of an option, by its name.
_fxt_value()
{
	case $1:$2 in
	--function=:* | --under=:* | --slow=:* | --callers=:* | --callees=:* | *:PATTERN | *:'[PATTERN:]'*)
		_fxt_offer "$1" < <(_fxt_functions "$3")
		;;
	--session=:*)
		_fxt_offer "$1" < <(fxtctl list 2>/dev/null | awk 'NR > 1 { print $1 }')
		;;
	--to=:*)
		_fxt_offer "$1" < <(fxt export --help | sed -n 's/^  \([a-z][a-z-]*\)  .*/\1/p')
		;;
	*:FILE | *:OUT | *:*FILE*)
		_fxt_files "$1"
		;;
	esac
}

# _fxt_option LIST TRACE: completes an option or its value; LIST is what the program prints.
_fxt_option()
{
	local option argument help

	if [[ $cur != *=* ]]; then
		_fxt_offer '' < <(grep -E '^--[^=	]*=?	' <<<"$1")
		return
	fi
	_fxt_offer '' < <(grep -E '^--[^	]*=[^	]' <<<"$1")
	while IFS='|' read -r option argument help; do
		[[ $option == *= && $cur == "$option"* ]] && _fxt_value "$option" "$argument" "$2"
	done < <(tr '\t' '|' <<<"$1")
}

# _fxt_end: bash splits words at = and :, and replaces the last part only. A value that is
# to come has no blank behind its option.
_fxt_end()
{
	local i part=${cur##*[=:]} quoted

	for i in "${!COMPREPLY[@]}"; do
		[[ ${COMPREPLY[i]} == *= ]] && compopt -o nospace 2>/dev/null
		quoted=${COMPREPLY[i]:$((${#cur} - ${#part}))}
		[[ -z $files && $quoted == *[[:space:]\(\)\<\>\&\*\;\'\"]* ]] && printf -v quoted %q "$quoted"
		COMPREPLY[i]=$quoted
	done
}

_fxt()
{
	local line=${COMP_LINE:0:COMP_POINT} trace=trace.fxt command= operands=0 files= list word cur i=1
	local -a words

	COMPREPLY=()
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=('')
	cur=${words[${#words[@]} - 1]}
	unset 'words[${#words[@]}-1]'
	case ${words[0]##*/} in
	fxtrun)
		list=$(fxtrun --completion)
		while [[ ${words[i]:-} == -* && ${words[i]} != -- ]]; do
			# An option without its value has it in the next word.
			grep -qE -e "^${words[i]}=?	[^	]" <<<"$list" && i=$((i + 1))
			i=$((i + 1))
		done
		if [ $i -gt ${#words[@]} ]; then
			word=${words[${#words[@]} - 1]}
			word=$(grep -m 1 -E -e "^$word=?	" <<<"$list")
			word=${word#*	}
			cur=X=$cur
			_fxt_value X= "${word%%	*}" trace.fxt
			COMPREPLY=("${COMPREPLY[@]#X=}")
			cur=${cur#X=}
		elif [ $i -lt ${#words[@]} ] && [ "${words[i]}" != -- ]; then
			compopt -o default 2>/dev/null
		elif [ "${words[i]:-}" != -- ] && [[ $cur == -* ]]; then
			_fxt_option "$list" trace.fxt
		else
			COMPREPLY=($(compgen -c -- "$cur"))
			compopt -o default 2>/dev/null
		fi
		;;
	*)
		local program=${words[0]}
		for ((i = 1; i < ${#words[@]}; i++)); do
			word=${words[i]}
			[ "$word" = --session ] && i=$((i + 1)) && continue
			[[ $word == -* ]] && continue
			if [ -n "$command" ]; then
				operands=$((operands + 1))
			else
				command=$word
			fi
			[[ $word == *.fxt* && -r $word ]] && trace=$word
		done
		if [ -z "$command" ] || [ "$command" = help ]; then
			list=$($program --completion)
			if [ "${words[${#words[@]} - 1]}" = --session ]; then
				_fxt_offer '' < <(fxtctl list 2>/dev/null | awk 'NR > 1 { print $1 }')
			elif [[ $cur == -* ]]; then
				_fxt_option "$list" $trace
			else
				_fxt_offer '' < <(grep -v '^-' <<<"$list")
			fi
		elif [[ $cur == -* ]]; then
			_fxt_option "$($program "$command" --completion 2>/dev/null)" "$trace"
		elif [ "${program##*/}" = fxt ]; then
			case $command:$operands in
			slow:0 | why:0) _fxt_offer '' < <(_fxt_functions "$trace") ;;
			*) _fxt_files '' ;;
			esac
		elif [ "${words[${#words[@]} - 1]}" = -o ]; then
			_fxt_files ''
		fi
		;;
	esac
	_fxt_end
}

complete -F _fxt fxt fxtrun fxtctl
