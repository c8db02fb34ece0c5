#!/usr/bin/env bats
# Every kind of filter on programs of every kind. The truth is a filter over the whole trace
# afterwards: the independent decoder gives its calls and nm the names (filter_matrix.py has
# the tables).

load helpers

# leave_the_same TABLE COMMAND...
leave_the_same()
{
	timeout 600 python3 "$root/tests/e2e/filter_matrix.py" "$@"
}

@test "lua: errors and coroutines" {
	[ -x "$build/real/lua" ] || skip "no source package of lua could be reached"
	# It calls the same functions in every run; tests/real/build says why there is no
	# nil.
	cat >script.lua <<-'END'
		local function place(row, n, taken)
			local solutions = row > n and 1 or 0
			for column = 1, row > n and 0 or n do
				local up, down = "u" .. row + column, "d" .. row - column
				if not (taken[column] or taken[up] or taken[down]) then
					taken[column], taken[up], taken[down] = true, true, true
					solutions = solutions + place(row + 1, n, taken)
					taken[column], taken[up], taken[down] = false, false, false
				end
			end
			return solutions
		end
		local function fail(depth)
			return depth == 0 and error("caught") or fail(depth - 1) + 1
		end
		local produce = coroutine.wrap(function()
			for i = 1, 100 do
				coroutine.yield(("x"):rep(i % 50) .. i)
			end
		end)
		local caught, bytes = 0, 0
		for i = 1, 10 do
			caught = caught + (pcall(fail, i % 7) and 0 or 1)
			bytes = bytes + #produce() + #string.format("%d %s", i, ("a,b"):gsub(",", tostring))
			collectgarbage("step")
		end
		print(place(1, 4, {}), caught, bytes)
	END
	leave_the_same lua "$build/real/lua" script.lua
}

@test "sqlite" {
	[ -x "$build/real/sqlite3" ] || skip "no source package of sqlite3 could be reached"
	cat >shop.sql <<-'END'
		create table customer(id integer primary key, name text unique, city text);
		insert into customer(name, city) values('ann', 'a'), ('bob', 'b'), ('cid', 'a');
		create index place on customer(city);
		insert into customer(name) values('ann');
		select upper(city), count(*), sum(id) from customer where name like '%b%' or id > 1 group by city order by 3 desc;
		begin; delete from customer where id < 2; rollback;
	END
	leave_the_same sqlite3 "$build/real/sqlite3" :memory: ".read shop.sql"
}

# kinds COMPILER OPTION...: a program in C++ with the library that it loads late.
kinds()
{
	local sources=$root/tests/programs/filters

	"$@" -std=c++17 -g -finstrument-functions -o kinds "$sources/kinds.cc" "$sources/kinds_other.cc" -ldl -pthread
	"$@" -std=c++17 -g -finstrument-functions -fPIC -shared -o kinds_plugin.so "$sources/kinds_plugin.cc"
	leave_the_same kinds ./kinds ./kinds_plugin.so
}

@test "C++: templates, inlined functions, exceptions; a plugin that is loaded late, and again" {
	kinds "${CXX:-c++}" -O2
	leave_the_same forks ./kinds ./kinds_plugin.so fork
}

@test "C++, by clang, for size: inlined functions share calls of the hooks" {
	[ -n "$(command -v clang++)" ] || skip "clang is not here"
	kinds clang++ -Os
}
