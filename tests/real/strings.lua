-- Strings: building, patterns, formatting, sorting, hashing of long and short keys.
local words, seed = {}, 42
local function random(n)
	seed = (seed * 1103515245 + 12345) % 2147483648
	return seed % n + 1
end

local letters = "abcdefghijklmnopqrstuvwxyz"
for i = 1, 600 do
	local word = {}
	for j = 1, random(12) do
		local at = random(#letters)
		word[j] = letters:sub(at, at)
	end
	words[i] = table.concat(word)
end
table.sort(words, function(a, b)
	return #a < #b or (#a == #b and a < b)
end)

local text = table.concat(words, " ")
local counts, vowels = {}, 0
for word in text:gmatch("%a+") do
	counts[word] = (counts[word] or 0) + 1
end
for _ in text:gmatch("[aeiou]") do
	vowels = vowels + 1
end
local most = 0
for _, count in pairs(counts) do
	most = math.max(most, count)
end
print(string.format("%d bytes, %d vowels, most frequent word %d times", #text, vowels, most))
print(words[1], words[#words], (text:gsub("(%a)%a*", "%1"):sub(1, 40)))
print(text:rep(50):upper():find("ZZ", 1, true))
