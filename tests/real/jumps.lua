-- Errors and coroutines. Lua leaves C functions by longjmp for every error caught by pcall, and for every yield: the
-- calls that were open are abandoned, never returned from.
local function fail(depth)
	if depth == 0 then
		error({ code = depth })
	end
	return fail(depth - 1) + 1
end

local caught = 0
for depth = 0, 60 do
	local ok, problem = pcall(fail, depth)
	caught = caught + ((not ok and problem.code == 0) and 1 or 0)
end
print("caught", caught)

-- Errors inside C functions that call back into Lua, several C frames deep.
local nested = 0
for i = 1, 40 do
	local ok = pcall(table.sort, { 3, 1, 2, 5, 4 }, function(a, b)
		if i % 2 == 0 then
			error("no order")
		end
		return a < b
	end)
	local _, message = pcall(string.gsub, ("x"):rep(20), "x", function()
		return (select(2, pcall(error, "inner")))
	end)
	nested = nested + (ok and 1 or 0) + #message
end
print("nested", nested)

local function produce(n)
	return coroutine.wrap(function()
		for i = 1, n do
			coroutine.yield(i)
		end
	end)
end
local function filter(keep, source)
	return coroutine.wrap(function()
		for value in source do
			if keep(value) then
				coroutine.yield(value)
			end
		end
	end)
end
local sum = 0
for prime in filter(function(v)
	return v % 7 ~= 0
end, filter(function(v)
	return v % 3 ~= 0
end, produce(600))) do
	sum = sum + prime
end
print("sum", sum)

-- A yield across pcall, and a coroutine that dies of an error.
local co = coroutine.create(function()
	local ok, problem = pcall(function()
		coroutine.yield("inside")
		error("after")
	end)
	coroutine.yield(tostring(ok) .. " " .. problem:match("after"))
	error("dead")
end)
print(coroutine.resume(co))
print(coroutine.resume(co))
print((coroutine.resume(co)), coroutine.status(co))
