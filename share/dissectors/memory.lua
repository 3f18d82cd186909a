-- SPDX-License-Identifier: BSD-2-Clause
-- What RoCEv2 packets write into a collector's memory, by its ticket:
-- dta-region(5) has tickets and the memory.

local memory = Proto("dta-memory", "DTA memory")

memory.prefs.ticket = Pref.string("Ticket", "",
	"A collector's ticket (dta-collect --ticket): what its tables hold")

local mf = {
	table = ProtoField.string("dta.memory.table", "Table"),
	slot = ProtoField.uint64("dta.memory.slot", "Slot"),
	list = ProtoField.uint64("dta.memory.list", "List"),
	entry = ProtoField.uint64("dta.memory.entry", "Entry"),
	count = ProtoField.uint64("dta.memory.count", "Entries written"),
	checksum = ProtoField.uint32("dta.memory.checksum", "Checksum", base.HEX),
	value = ProtoField.bytes("dta.memory.value", "Value"),
	hop = ProtoField.uint32("dta.memory.hop", "Hop XOR checksum", base.HEX),
	reason = ProtoField.string("dta.memory.reason", "Ticket"),
}
memory.fields = mf
local memory_expert = ProtoExpert.new("dta.memory.ticket", "No ticket",
	expert.group.PROTOCOL, expert.severity.WARN)
memory.experts = { memory_expert }

local va_field = Field.new("infiniband.reth.va")
local rkey_field = Field.new("infiniband.reth.r_key")
local len_field = Field.new("infiniband.reth.dmalen")

local LIST_COUNT_LEN = 8
local COUNTER_LEN = 8
local CHECKSUM_LEN = 4 -- before a slot's value; and a postcard's entry

-- The tables of a ticket, or why there are none.
local function ticket_read(path)
	local tables = {}
	local file, why = io.open(path)

	if not file then
		return tables, why
	end
	for line in file:lines() do
		local name = line:match("^%[table (.+)%]$")
		local field, value = line:match("^(%w+) = (.+)$")

		if name then
			table.insert(tables, { name = name })
		elseif field and #tables > 0 then
			tables[#tables][field] = tonumber(value) or value
		end
	end
	file:close()
	for _, t in ipairs(tables) do
		t.stride = t.stride or COUNTER_LEN
		if not (t.kind and t.rkey and t.length and t.address) then
			return {}, path .. ": [table " .. t.name .. "] is not whole"
		end
	end
	return tables, #tables == 0 and path .. ": no tables" or nil
end

-- Addresses are below 2^53, which a number of Lua holds.
local function number_of(field)
	return tonumber(tostring(field))
end

local function table_at(tables, rkey, va, len)
	for _, t in ipairs(tables) do
		if rkey == t.rkey and va >= t.address and
		    va + len <= t.address + t.length then
			return t, va - t.address
		end
	end
end

-- Each of the bytes' entries, a stride apart.
local function memory_values(tree, t, bytes)
	for at = 0, bytes:len() - t.value, t.stride do
		tree:add(mf.value, bytes(at, t.value))
	end
end

local function memory_append(tree, t, offset, bytes)
	local heads = t.ring * t.lists * t.stride
	local unit = math.floor(offset / t.stride)

	if offset >= heads then
		tree:add(mf.list, UInt64((offset - heads) / LIST_COUNT_LEN))
		if bytes and bytes:len() == LIST_COUNT_LEN then
			tree:add(mf.count, bytes)
		end
		return
	end
	tree:add(mf.list, UInt64(math.floor(unit / t.ring)))
	tree:add(mf.entry, UInt64(unit % t.ring))
	if bytes then
		memory_values(tree, t, bytes)
	end
end

local function memory_slot(tree, t, offset, bytes)
	tree:add(mf.slot, UInt64(math.floor(offset / t.stride)))
	if not bytes then
		return
	end
	if t.kind == "keywrite" and bytes:len() > CHECKSUM_LEN then
		tree:add(mf.checksum, bytes(0, CHECKSUM_LEN))
		tree:add(mf.value, bytes(CHECKSUM_LEN,
			math.min(t.value, bytes:len() - CHECKSUM_LEN)))
	elseif t.kind == "postcard" then
		for hop = 0, math.min(t.hops, math.floor(bytes:len() / CHECKSUM_LEN)) - 1 do
			tree:add(mf.hop, bytes(CHECKSUM_LEN * hop, CHECKSUM_LEN))
		end
	end
end

local ticket_path, ticket_tables, ticket_why = "", {}, nil

function memory.dissector(buf, pinfo, root)
	local va, rkey, len = va_field(), rkey_field(), len_field()

	if memory.prefs.ticket == "" or not va or not rkey then
		return
	end
	if memory.prefs.ticket ~= ticket_path then
		ticket_path = memory.prefs.ticket
		ticket_tables, ticket_why = ticket_read(ticket_path)
	end
	local t, offset = table_at(ticket_tables, rkey.value,
		number_of(va.value), len and len.value or 8)
	local tree = (t or ticket_why) and root:add(memory, buf(va.offset, 12))
	if ticket_why then
		tree:add(mf.reason, ticket_why):add_proto_expert_info(memory_expert,
			ticket_why)
	elseif t then
		local at = len and len.offset + 4
		local bytes = len and len.value > 0 and
			at + len.value <= buf:len() and buf(at, len.value) or nil
		tree:add(mf.table, t.name)
		if t.kind == "append" then
			memory_append(tree, t, offset, bytes)
		else
			memory_slot(tree, t, offset, bytes)
		end
	end
end

register_postdissector(memory)
