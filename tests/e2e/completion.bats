#!/usr/bin/env bats
# The Tab key: what bash, zsh and fish make of a command line of fxt, fxtrun and fxtctl.

load helpers

setup()
{
	mkdir -p "$BATS_TEST_TMPDIR/sockets"
	cd "$BATS_TEST_TMPDIR" || return 1
	export XDG_RUNTIME_DIR=$PWD/sockets HOME=$PWD
	mkdir here && cd here
	zstd -dq "$root/doc/manual/trace.fxt.zst" -o trace.fxt
	touch other.txt
}

# becomes LINE RESULT ...: in both shells the line is RESULT after the Tab key.
becomes()
{
	local lines=() results=()

	while [ $# -gt 0 ]; do
		lines+=("$1")
		results+=("$2")
		shift 2
	done
	for shell in bash zsh; do
		command -v $shell >/dev/null || { echo "# no $shell" && continue; }
		file=$root/completion/fxt.bash
		[ $shell = bash ] || file=$root/completion/_fxt
		timeout 100 python3 "$root/tests/e2e/completes.py" $shell "$file" "${lines[@]}" >typed
		printf '%s\n' "${results[@]}" | diff - typed
	done
}

# fish_offers LINE WORD...: these are what fish offers.
fish_offers()
{
	local line=$1

	shift
	fish --no-config -c "source $root/completion/fxt.fish; complete -C '$line'" | cut -f 1 | sort >offered
	printf '%s\n' "$@" | sort | diff - offered
}

@test "commands, options, their words, functions and files are completed by bash and zsh" {
	becomes 'fxt symb' 'fxt symbolize' \
		'fxt help symb' 'fxt help symbolize' \
		'fxt slow --func' 'fxt slow --function=' \
		'fxt slow book' 'fxt slow book_order' \
		'fxt why --under=book' 'fxt why --under=book_order' \
		'fxt report --callees=book' 'fxt report --callees=book_order' \
		'fxt export --to=callg' 'fxt export --to=callgrind' \
		'fxt info tra' 'fxt info trace.fxt' \
		'fxtrun --deta' 'fxtrun --detach' \
		'fxtrun --buffering-mode=on' 'fxtrun --buffering-mode=oneshot' \
		'fxtrun --exclude=book' 'fxtrun --exclude=book_order' \
		'fxtrun -F book' 'fxtrun -F book_order' \
		'fxtrun -o x --cali' 'fxtrun -o x --calibrate' \
		'fxtrun -o oth' 'fxtrun -o other.txt' \
		'fxtrun --deta cat oth' 'fxtrun --deta cat other.txt' \
		'fxtctl snap' 'fxtctl snapshot' \
		'fxtctl record --only' 'fxtctl record --only-under='
}

@test "fish offers the same, with the programs' own help" {
	command -v fish >/dev/null || skip "no fish"
	fish_offers 'fxt symb' symbolize
	fish_offers 'fxt slow --fi' --file=
	fish_offers 'fxt slow serve' serve_order serve_orders
	fish_offers 'fxt report --callees=serve' --callees=serve_order --callees=serve_orders
	fish_offers 'fxt export --to=call' --to=callgrind
	fish_offers 'fxt info ' trace.fxt
	fish_offers 'fxtrun --buffering-mode=' --buffering-mode={oneshot,circular,streaming}
	fish_offers 'fxtrun -F book' book_order
	fish_offers 'fxtrun -o x cat oth' other.txt
	fish_offers 'fxtctl sna' snapshot
	fish --no-config -c "source $root/completion/fxt.fish; complete -C 'fxt sym'" | grep -x "$(printf 'symbolize\t')$(fxt --help | sed -n 's/^  symbolize *//p')"
}

@test "a C++ function is completed as one word" {
	echo 'namespace shop {
		__attribute__((noinline)) int sold(const char *what, int n) { __asm__ volatile(""); return what[0] + n; } }
		int main() { return shop::sold("", 0); }' >shop.cc
	fxt-c++ -O2 -g shop.cc -o shop
	fxtrun -o trace.fxt ./shop
	[ "$(calls_of trace.fxt 'shop::sold(char const*, int)')" = 1 ]
	becomes 'fxt slow shop' 'fxt slow shop::sold(char const*, int)' 'fxt slow shop tra' 'fxt slow shop trace.fxt'
}

@test "the names of running sessions are completed" {
	mkfifo input
	fxtrun --session=kitchen cat <input >out 2>&1 3>&- &
	exec 8>input
	until fxtctl list | grep -q kitchen; do :; done
	becomes 'fxtctl --session=kit' 'fxtctl --session=kitchen' 'fxtctl --session kit' 'fxtctl --session kitchen'
	! command -v fish >/dev/null || fish_offers 'fxtctl --session=kit' --session=kitchen
	exec 8>&-
	wait $!
}

# options_of_help: the long options that begin a line of a text of --help.
options_of_help()
{
	sed -nE 's/^ +(-., )?--([a-z-]+).*/\2/p' | sort -u
}

@test "all options that --help has are listed, and no others but those of the tables" {
	fxtrun --help | options_of_help >help
	fxtrun --completion | sed -nE 's/^--([a-z-]+).*/\1/p' | sort -u | diff help -
	fxt --completion | cut -f 1 | grep -vx -e help -e '-.*' >commands
	[ "$(wc -l <commands)" -gt 20 ]
	while read -r command; do
		fxt $command --help | options_of_help >help
		fxt $command --completion | sed -nE 's/^--([a-z-]+).*/\1/p' | sort -u >listed
		[ -z "$(comm -23 help listed)" ]
		# Each is an option of the command: with a value that is none, it is known.
		while read -r option; do
			fails grep -q 'unknown option' < <(timeout 10 fxt $command --$option no-such-file 2>&1 </dev/null)
		done < <(grep -vx help listed)
	done <commands
	fxtctl --help | sed -nE 's/^  ([a-z]+) .*/\1/p' | sort >help
	fxtctl --completion | cut -f 1 | grep -v '^-' | sort | diff help -
}
