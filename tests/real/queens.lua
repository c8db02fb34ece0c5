-- Every solution of the n queens problem: deep recursion, tables, closures as iterators.
local function solve(n)
	local columns, up, down, queen, solutions = {}, {}, {}, {}, 0
	local function place(row)
		if row > n then
			solutions = solutions + 1
			return
		end
		for column = 1, n do
			local u, d = row + column, row - column
			if not (columns[column] or up[u] or down[d]) then
				columns[column], up[u], down[d], queen[row] = true, true, true, column
				place(row + 1)
				columns[column], up[u], down[d], queen[row] = false, false, false, false
			end
		end
	end
	place(1)
	return solutions
end

for n = 4, 8 do
	print(n .. " queens: " .. solve(n) .. " solutions")
end
