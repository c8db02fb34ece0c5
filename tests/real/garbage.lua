-- The collector: closures, cyclic tables, finalizers, weak tables, in incremental and generational mode.
local function tree(depth)
	if depth == 0 then
		return {}
	end
	local node = { tree(depth - 1), tree(depth - 1) }
	node[1].parent, node[2].parent = node, node
	return node
end

local function counter(start)
	local value = start
	return function(step)
		value = value + step
		return value
	end
end

for _, mode in ipairs({ "incremental", "generational" }) do
	collectgarbage(mode)
	local finalized, total = 0, 0
	for round = 1, 6 do
		tree(8)
		for i = 1, 200 do
			total = total + counter(i)(round)
			setmetatable({}, { __gc = function()
				finalized = finalized + 1
			end })
		end
	end
	local weak = setmetatable({}, { __mode = "v" })
	for i = 1, 100 do
		weak[i] = { i }
	end
	collectgarbage()
	print(mode, total, finalized, #weak)
end
