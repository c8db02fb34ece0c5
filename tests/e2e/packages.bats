#!/usr/bin/env bats
# make install, uninstall, deb, rpm and tarball: everything that is installed runs from there,
# and nothing of it is left behind.

load helpers

setup_file()
{
	# Packages hold what the build has; the rest of make's options are those of a user.
	unset MAKEFLAGS MAKELEVEL
	mkdir "$BATS_FILE_TMPDIR/sockets"
	export XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR/sockets out=$BATS_FILE_TMPDIR/out
	mkdir "$out"
	# A build directory of links, for the packages to be made in.
	for file in fxt fxtrun fxtctl fxt-cc fxt-c++ libfxtagent.so flags obj pic; do
		ln -s "$build/$file" "$out/$file"
	done
	for archive in "$build"/*.a; do
		ln -s "$archive" "$out/${archive##*/}"
	done
	cat >"$BATS_FILE_TMPDIR/shop.c" <<-'END'
		int n;
		__attribute__((noinline)) void sell(void) { n++; }
		int main(void) { for (int i = 0; i < 30; i++) sell(); return n != 30; }
	END
}

# made TARGET ARGUMENT...: make of the tree on that build.
made()
{
	env -u DESTDIR make -C "$root" --no-print-directory O="$out" "$@"
}

# works BIN: the programs there compile, record and read a program; nothing else is used.
works()
(
	mkdir -p elsewhere && cd elsewhere || return 1
	PATH=$1:/usr/bin:/bin
	[ "$(command -v fxtrun)" = "$1/fxtrun" ]
	fxt-cc -O2 -g "$BATS_FILE_TMPDIR/shop.c" -o shop
	fxtrun ./shop
	[ "$(calls_of trace.fxt sell)" = 30 ]
	fxt report | grep -qw sell
	fxtctl list
)

@test "make install lists its files, they work, and make uninstall removes them" {
	made install DESTDIR="$PWD/a b" PREFIX=/opt/fxt >said
	find 'a b' ! -type d | sort >there
	sed -n 's/^  INSTALL	//p' said | sed "s,^$PWD/,," | sort | diff - there
	grep -q /bin/fxt-c++$ there && grep -q /man1/fxt-cc.1$ there && grep -q /share/zsh/site-functions/_fxt$ there
	[ -z "$(find 'a b' -xtype l)" ]
	works "$PWD/a b/opt/fxt/bin"
	made uninstall DESTDIR="$PWD/a b" PREFIX=/opt/fxt >said
	[ -z "$(find 'a b' ! -type d)" ]
	[ -z "$(find 'a b' -name fxt -path '*/share/*')" ]
}

@test "make tarball: it runs from any directory, and from another one after a move" {
	file=$(made tarball)
	tar -xzf "$file"
	works "$(echo "$PWD"/fxt-*)/bin"
	mkdir 'else where'
	mv fxt-*/ 'else where/tool'
	works "$PWD/else where/tool/bin"
	[ "$(PKG_CONFIG_PATH="$PWD/else where/tool/share/pkgconfig" pkg-config --modversion fxt)" = "$(fxt --version | cut -d ' ' -f 2)" ] ||
		fails command -v pkg-config
	made tarball
	tar -tzf "$file" >after
	[ -s after ]
}

@test "make deb: the packages install, run and are purged without a rest" {
	command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || skip "no dpkg-dev"
	made deb >files
	[ "$(wc -l <files)" = 2 ]
	mkdir -p system/var/lib/dpkg/info system/var/lib/dpkg/updates
	touch system/var/lib/dpkg/status system/var/lib/dpkg/available
	in_system()
	{
		fakeroot dpkg --root="$PWD/system" --log=/dev/null --force-not-root --force-depends --force-bad-path "$@"
	}
	find system | sort >before
	# shellcheck disable=SC2046
	in_system -i $(cat files) >said 2>&1 || { cat said && false; }
	works "$PWD/system/usr/bin"
	in_system --verify fxt fxt-dev >said
	[ ! -s said ]
	for page in fxt.1 fxtrun.1 fxtctl.1 fxt-cc.1 fxt-c++.1 fxt-report.1 fxt-format.5 libfxtagent.7; do
		gzip -dc "system/usr/share/man/man${page##*.}/$page.gz" | grep -q '^\.Dt'
	done
	diff "$root/LICENSE" system/usr/share/doc/fxt/copyright && [ -f system/usr/share/doc/fxt-dev/changelog.gz ]
	in_system --purge fxt-dev fxt >said 2>&1
	find system | grep -v -e '-old$' -e /lock -e triggers -e '/info/format$' -e '/diversions$' -e '/statoverride$' | sort | diff before -
}

# files_of COMMAND...: the files that it lists, without the documents of each kind of package
# and the directories of zsh, which have names of their own.
files_of()
{
	"$@" | sed 's,^\./,/,; s,/vendor-completions/,/site-functions/,' | grep -v -e '/$' -e '^/usr/share/doc/' | sort
}

@test "make rpm: the packages have the files of make deb's, install, run and are erased without a rest" {
	command -v rpmbuild >/dev/null && command -v dpkg-shlibdeps >/dev/null || skip "no rpmbuild, or no dpkg-dev"
	[ "$(chroot / echo there)" = there ] || skip "rpm needs chroot(2) to install"
	made rpm >files
	[ "$(wc -l <files)" = 2 ]
	made deb >debs
	for number in 1 2; do
		files_of tar -tf <(dpkg-deb --fsys-tarfile "$(sed -n ${number}p debs)") >in_deb
		rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$(sed -n ${number}p files)" >listed
		files_of sed -n '/^d/!s/^[^ ]* //p' listed >in_rpm
		[ "$(wc -l <in_deb)" -ge 5 ]
		diff in_deb in_rpm
	done
	rpm -qpR "$(sed -n 1p files)" | grep '^libjansson\.so'
	mkdir system
	# shellcheck disable=SC2046
	rpm --root="$PWD/system" --dbpath=/db --nodeps -i $(cat files)
	works "$PWD/system/usr/bin"
	gzip -dc system/usr/share/man/man1/fxt-c++.1.gz | grep -q '^\.Dt'
	rpm --root="$PWD/system" --dbpath=/db --nodeps -e fxt-devel fxt
	rm -r system/db
	find system ! -type d >left
	[ ! -s left ]
	[ -z "$(find system -name 'fxt*')" ]
}

# owner_of LIBRARY: the Debian package that has it, wherever /lib leads.
owner_of()
{
	dpkg -S "*/$(basename "$(dirname "$1")")/$(basename "$(readlink -f "$1")")" | cut -d : -f 1 | sed q
}

@test "the package depends on the packages of the libraries that the programs load, and collides with no name of Debian's" {
	command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || skip "no dpkg-dev"
	made deb >files
	package=$(sed -n 1p files)
	dpkg-deb -f "$package" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//' | sort -u >depends
	ldd "$build/fxt" "$build/fxtrun" "$build/fxtctl" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u | while read -r library; do
		owner_of "$library"
	done | sort -u >loaded
	# Only direct needs are named; each is loaded.
	[ -s depends ] && [ -z "$(comm -23 depends loaded)" ]
	for library in $(readelf -dW "$build/fxt" "$build/fxtrun" "$build/fxtctl" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u); do
		path=$(ldd "$build/fxt" "$build/fxtrun" | sed -n "s,.*$library => \(/[^ ]*\) .*,\1,p" | head -n 1)
		grep -qx "$(owner_of "$path")" depends
	done
	dpkg-deb -c "$package" | awk '{ print $6 }' | grep -E '/(bin|man1)/' | while read -r path; do
		[[ ${path##*/} =~ ^(|fxt(run|ctl|-cc|-c\+\+)?(\.1\.gz)?|fxt-[a-z]+\.1\.gz)$ ]]
	done
}
