#!/bin/sh
# Checks that the needs of building ("build"), testing ("test"), the pictures of README.md
# ("pictures"), the test suites of real programs ("suites") and the benchmark ("bench") are
# there; "viewer" has needs of tests that are skipped without them: tools/deps.sh SET...
#
# A need is missing when its command, header or library is not there. It is then installed
# by the name of its package, if there is apt-get and a right to use it (root, or sudo);
# otherwise the names are printed, and the status is 1. With --name before the sets, says
# what is missing, in one line, and installs nothing.
set -u

# set    command, header, library    Debian, Ubuntu   Fedora            Arch
needs='
build    make                        make             make              make
build    gcc                         gcc              gcc               gcc
build    g++                         g++              gcc-c++           gcc
build    ld                          binutils         binutils          binutils
build    <stdio.h>                   libc6-dev        glibc-devel       glibc
build    <elfutils/libdw.h>          libdw-dev        elfutils-devel    libelf
build    <gelf.h>                    libelf-dev       elfutils-libelf-devel libelf
build    <Zydis/Zydis.h>          libzydis-dev     zydis-devel       zydis
build    <libiberty/demangle.h>      libiberty-dev    binutils-devel    binutils
build    <jansson.h>                 libjansson-dev   jansson-devel     jansson
build    <zlib.h>                    zlib1g-dev       zlib-devel        zlib
build    <zstd.h>                    libzstd-dev      libzstd-devel     zstd
build    <sqlite3.h>                 libsqlite3-dev   sqlite-devel      sqlite
build    <editline/readline.h>       libedit-dev      libedit-devel     libedit
build    <ncurses.h>                 libncurses-dev   ncurses-devel     ncurses
test     <cmocka.h>                  libcmocka-dev    libcmocka-devel   cmocka
test     bats                        bats             bats              bash-bats
test     git                         git              git               git
test     pkill                       procps           procps-ng         procps-ng
test     python3                     python3          python3           python
test     clang                       clang            clang             clang
test     clang-format                clang-format     clang-tools-extra clang
test     dpkg-source                 dpkg-dev         dpkg-dev          dpkg
test     spin                        spin             spin              spin
test     tclsh                       tcl              tcl               tcl
test     jq                          jq               jq                jq
test     heaptrack                   heaptrack        heaptrack         heaptrack
test     libjemalloc.so.2            libjemalloc2     jemalloc          jemalloc
test     libtcmalloc_minimal.so.4    libtcmalloc-minimal4 gperftools-libs gperftools
test     libmimalloc.so              libmimalloc-dev  mimalloc-devel    mimalloc
test     gzip                        gzip             gzip              gzip
test     zstd                        zstd             zstd              zstd
test     valgrind                    valgrind         valgrind          valgrind
test     tmux                        tmux             tmux              tmux
test     strace                      strace           strace            strace
test     fakeroot                    fakeroot         fakeroot          fakeroot
test     libtbb.so                   libtbb-dev       tbb-devel         onetbb
test     <sys/sdt.h>                 systemtap-sdt-dev systemtap-sdt-devel systemtap
test     mandoc                      mandoc           mandoc            mandoc
suites   ltrace                      ltrace           ltrace            ltrace
viewer   node                        nodejs           nodejs            nodejs
viewer   npm                         npm              nodejs-npm        npm
viewer   chromium                    chromium         chromium          chromium
viewer   go                          golang-go        golang            go
viewer   sqlite3                     sqlite3          sqlite            sqlite
viewer   rpmbuild                    rpm              rpm-build         rpm-tools
viewer   zsh                         zsh              zsh               zsh
viewer   fish                        fish             fish              fish
viewer   cmake                       cmake            cmake             cmake
viewer   meson                       meson            meson             meson
viewer   ccache                      ccache           ccache            ccache
viewer   automake                    automake         automake          automake
viewer   libtoolize                  libtool          libtool           libtool
viewer   mpicc                       libopenmpi-dev   openmpi-devel     openmpi
viewer   mpirun                      openmpi-bin      openmpi           openmpi
viewer   pkg-config                  pkgconf          pkgconf-pkg-config pkgconf
pictures chromium                    chromium         chromium          chromium
pictures tmux                        tmux             tmux              tmux
pictures aha                         aha              aha               aha
suites   autoreconf                  autoconf         autoconf          autoconf
suites   libtoolize                  libtool          libtool           libtool
suites   <event.h>                   libevent-dev     libevent-devel    libevent
suites   <oniguruma.h>               libonig-dev      oniguruma-devel   oniguruma
suites   prove                       perl             perl-Test-Harness perl
suites   stress-ng                   stress-ng        stress-ng         stress-ng
bench    python3                     python3          python3           python
bench    dpkg-source                 dpkg-dev         dpkg-dev          dpkg
bench    tclsh                       tcl              tcl               tcl
bench    heaptrack                   heaptrack        heaptrack         heaptrack
bench    uftrace                     uftrace          uftrace           uftrace
bench    lttng                       lttng-tools      lttng-tools       lttng-tools
bench    liblttng-ust-cyg-profile-fast.so.1 liblttng-ust1 lttng-ust     lttng-ust
'

is_there()
{
	case $1 in
	'<'*)
		header=${1#<}
		header=${header%>}
		for directory in /usr/include /usr/local/include /usr/include/*-linux-gnu; do
			[ -e "$directory/$header" ] && return 0
		done
		return 1
		;;
	*.so | *.so.*)
		for directory in /lib /lib64 /usr/lib /usr/lib64 /usr/lib/*-linux-gnu; do
			[ -e "$directory/$1" ] && return 0
		done
		return 1
		;;
	*) command -v "$1" >/dev/null ;;
	esac
}

# The packages of one column, each once, of the needs in the sets asked for that are not
# there.
missing()
{
	echo "$needs" | while read -r set need debian fedora arch; do
		case " $sets " in
		*" ${set:--} "*) is_there "$need" || eval "echo \"\$$1\"" ;;
		esac
	done | sort -u | tr '\n' ' '
}

name_only=
[ "${1-}" = --name ] && name_only=1 && shift
sets=$*
packages=$(missing debian)
[ -z "$packages" ] && exit 0
[ -n "$name_only" ] && echo "make: these packages seem to be missing, and make deps installs them: $packages" >&2 && exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
	as_root=sudo
else
	as_root=none
fi

if [ "$as_root" != none ] && command -v apt-get >/dev/null; then
	echo "Installing what is missing: $packages"
	install="$as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Acquire::Retries=3"
	# The package lists of a fresh system are empty, those of an old one name files that
	# are gone.
	$install install --no-install-recommends $packages </dev/null >/dev/null 2>&1 ||
		{ $install update </dev/null && $install install --no-install-recommends $packages </dev/null; } || {
		echo "deps: apt-get could not install: $packages" >&2
		exit 1
	}
	packages=$(missing debian)
	[ -z "$packages" ] && exit 0
fi

cat >&2 <<MISSING
deps: some packages are missing, and there is no right or no way to install them from here. Please install:
  Debian, Ubuntu  $(missing debian)
  Fedora          $(missing fedora)
  Arch            $(missing arch)
MISSING
exit 1
