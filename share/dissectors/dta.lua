-- SPDX-License-Identifier: BSD-2-Clause
-- DTA reports and NACKs: dta(7), REPORTS; and those of the published system.

local dta = Proto("dta", "Direct Telemetry Access")

local dta_opcodes = {
	[N.DTA_KEYWRITE] = "keywrite",
	[N.DTA_APPEND] = "append",
	[N.DTA_KEYINC] = "keyinc",
	[N.DTA_POSTCARD] = "postcard",
	[N.DTA_NACK] = "nack",
}
local dta_nack_reasons = {
	[N.DTA_NACK_STATE] = "state",
	[N.DTA_NACK_GAP] = "gap",
	[N.DTA_NACK_RATE] = "rate limit",
	[N.DTA_NACK_RESYNC] = "resynchronisation",
	[N.DTA_NACK_GONE] = "gone",
}
local DTA1, DTA0A, DTA0B = 0, 1, 2

dta.prefs.format = Pref.enum("Reports without a version", DTA1,
	"How to read reports whose first four bits are 0", {
		{ 1, "dta1", DTA1 },
		{ 2, "dta0a", DTA0A },
		{ 3, "dta0b", DTA0B },
	}, false)

local df = {
	version = ProtoField.uint8("dta.version", "Version", base.DEC, nil, 0xf0),
	opcode = ProtoField.uint8("dta.opcode", "Opcode", base.DEC, dta_opcodes,
		0x0f),
	immediate = ProtoField.bool("dta.flags.immediate", "Immediate", 8, nil,
		N.DTA_FLAG_IMMEDIATE),
	tracked = ProtoField.bool("dta.flags.tracked", "Tracked", 8, nil,
		N.DTA_FLAG_TRACKED),
	copies = ProtoField.uint8("dta.copies", "Copies", base.DEC, nil,
		N.DTA_COPIES_MASK),
	key_length = ProtoField.uint8("dta.key.length", "Length of the key"),
	hop = ProtoField.uint8("dta.hop", "Hop"),
	path_len = ProtoField.uint8("dta.path_len", "Hops of the path"),
	table = ProtoField.uint16("dta.table", "Table"),
	sequence = ProtoField.uint16("dta.sequence", "Sequence"),
	syndrome = ProtoField.uint8("dta.syndrome", "Reason", base.DEC,
		dta_nack_reasons),
	key = ProtoField.string("dta.key", "Key"),
	key_node = ProtoField.uint32("dta.key.node", "Switch"),
	key_src = ProtoField.ipv4("dta.key.src", "Source"),
	key_dst = ProtoField.ipv4("dta.key.dst", "Destination"),
	key_src6 = ProtoField.ipv6("dta.key.src6", "Source"),
	key_dst6 = ProtoField.ipv6("dta.key.dst6", "Destination"),
	key_sport = ProtoField.uint16("dta.key.srcport", "Source port"),
	key_dport = ProtoField.uint16("dta.key.dstport", "Destination port"),
	key_protocol = ProtoField.uint8("dta.key.protocol", "Protocol",
		base.DEC, protocol_names),
	list = ProtoField.uint32("dta.list", "List"),
	add = ProtoField.uint64("dta.add", "Addend"),
	data = ProtoField.bytes("dta.data", "Data"),
	reason = ProtoField.string("dta.reason", "Malformed"),
}
dta.fields = df

local dta_expert = ProtoExpert.new("dta.malformed", "Malformed report",
	expert.group.MALFORMED, expert.severity.ERROR)
dta.experts = { dta_expert }

-- What an opcode's key is read as; its length tells the type. The text of it.
local function dta_key(tree, range)
	local hop = 0
	local len = range:len()
	local text, item

	if len == N.DTA0_KEY_LEN then
		text = tostring(range:uint())
	elseif len == N.KEY_FLOW4_LEN or len == N.KEY_FLOW6_LEN then
		text = flow_text(range)
	elseif len == N.KEY_HOP_ID + N.KEY_FLOW4_LEN or
	    len == N.KEY_HOP_ID + N.KEY_FLOW6_LEN then
		hop = N.KEY_HOP_ID
		text = range(0, hop):uint() .. "@" .. flow_text(range(hop))
	else
		tree:add(df.key, range, hex(range))
		return hex(range)
	end
	item = tree:add(df.key, range, text)
	if len == N.DTA0_KEY_LEN then
		return text
	end
	local six = len - hop == N.KEY_FLOW6_LEN
	local n = six and N.KEY_IP6_LEN or N.KEY_IP4_LEN
	if hop > 0 then
		item:add(df.key_node, range(0, hop))
	end
	item:add(six and df.key_src6 or df.key_src, range(hop, n))
	item:add(six and df.key_dst6 or df.key_dst, range(hop + n, n))
	item:add(df.key_sport, range(hop + 2 * n, 2))
	item:add(df.key_dport, range(hop + 2 * n + 2, 2))
	item:add(df.key_protocol, range(hop + 2 * n + 4, 1))
	return text
end

-- Key and data, the same in all formats. The column's text.
local function dta_contents(tree, opcode, key, data)
	local text = ""

	if key and opcode == N.DTA_APPEND and key:len() == 4 then
		tree:add(df.list, key)
		text = " list=" .. key:uint()
	elseif key then
		text = " key=" .. dta_key(tree, key)
	end
	if data and opcode == N.DTA_KEYINC and data:len() == N.DTA_COUNTER_LEN then
		tree:add(df.add, data)
		text = text .. " add=" .. tostring(data:uint64())
	end
	if data then
		tree:add(df.data, data)
	end
	return text
end

-- Returns what is wrong with it, or nil.
local function dta1(buf, pinfo, tree)
	local len = buf:len()

	if len < N.DTA_HEADER_LEN then
		return "cut short, or lengths that do not add up"
	end
	local opcode = buf(0, 1):bitfield(4, 4)
	local nack = opcode == N.DTA_NACK
	local key_len = buf(N.DTA_AT_KEY_LEN, 1):uint()

	tree:add(df.opcode, buf(0, 1))
	tree:add(df.immediate, buf(N.DTA_AT_FLAGS, 1))
	tree:add(df.tracked, buf(N.DTA_AT_FLAGS, 1))
	if opcode ~= N.DTA_APPEND and not nack then
		tree:add(df.copies, buf(N.DTA_AT_FLAGS, 1))
	end
	tree:add(df.key_length, buf(N.DTA_AT_KEY_LEN, 1))
	if nack then
		tree:add(df.syndrome, buf(N.DTA_AT_HOP, 1))
	elseif opcode == N.DTA_POSTCARD then
		local at = buf(N.DTA_AT_HOP, 1)
		tree:add(df.hop, at, at:bitfield(0, 4))
		tree:add(df.path_len, at, at:bitfield(4, 4))
	end
	tree:add(df.table, buf(N.DTA_AT_TABLE, 2))
	tree:add(df.sequence, buf(N.DTA_AT_SEQUENCE, 2))
	if not dta_opcodes[opcode] then
		return "unknown opcode"
	elseif len - N.DTA_HEADER_LEN < key_len then
		return "cut short, or lengths that do not add up"
	elseif buf(N.DTA_AT_FLAGS, 1):bitfield(4, 4) > N.DTA_MAX_COPIES then
		return "copies not between 1 and 4"
	end
	pinfo.cols.info = string.format("%s table=%d sequence=%d",
		dta_opcodes[opcode], buf(N.DTA_AT_TABLE, 2):uint(),
		buf(N.DTA_AT_SEQUENCE, 2):uint())
	if nack then
		local reason = buf(N.DTA_AT_HOP, 1):uint()
		pinfo.cols.info:append(" " .. (dta_nack_reasons[reason] or reason))
		return nil
	end
	local data_at = N.DTA_HEADER_LEN + key_len
	pinfo.cols.info:append(dta_contents(tree, opcode,
		part(buf, N.DTA_HEADER_LEN, key_len),
		part(buf, data_at, len - data_at)))
	return nil
end

-- Bytes of data that a primitive of DTA/0 takes.
local dta0_data = {
	[N.DTA_KEYWRITE] = { [4] = true, [12] = true, [28] = true },
	[N.DTA_APPEND] = { [4] = true },
	[N.DTA_KEYINC] = { [N.DTA_COUNTER_LEN] = true },
	[N.DTA_POSTCARD] = { [4] = true },
}

local function dta0(buf, pinfo, tree)
	local b = dta.prefs.format == DTA0B
	local opcode = buf(0, 1):uint()
	local copied = opcode == N.DTA_KEYWRITE or opcode == N.DTA_KEYINC
	local postcard = opcode == N.DTA_POSTCARD
	local flags_at = b and 2 or 1
	local key_at = flags_at + 1 + (copied and 1 or 0)
	local hop_at = key_at + N.DTA0_KEY_LEN
	local data_at = hop_at + (postcard and 1 or 0)

	tree:add(df.opcode, buf(0, 1))
	if not dta0_data[opcode] then
		return "unknown opcode"
	elseif copied and buf:len() >= key_at then
		local copies = buf(key_at - 1, 1)
		tree:add(df.copies, copies, copies:uint())
		if copies:uint() < 1 or copies:uint() > N.DTA_MAX_COPIES then
			return "copies not between 1 and 4"
		end
	end
	if not dta0_data[opcode][buf:len() - data_at] or
	    postcard and buf(hop_at, 1):uint() == 0 then
		return "cut short, or lengths that do not add up"
	end
	tree:add(df.immediate, buf(flags_at, 1))
	if b then
		tree:add(df.sequence, buf(1, 1))
		tree:add(df.tracked, buf(flags_at, 1))
	end
	if postcard then
		tree:add(df.hop, buf(hop_at, 1), buf(hop_at, 1):uint() - 1)
	end
	pinfo.cols.info = dta_opcodes[opcode] .. dta_contents(tree, opcode,
		buf(key_at, N.DTA0_KEY_LEN), buf(data_at))
	return nil
end

-- Of the published system: no opcode.
local function dta0_nack(buf, pinfo, tree)
	tree:add(df.opcode, buf(1, 1), N.DTA_NACK)
	tree:add(df.sequence, buf(0, 1))
	pinfo.cols.info = "nack sequence=" .. buf(0, 1):uint()
end

local function dta_report(buf, pinfo, tree)
	local version = buf(0, 1):bitfield(0, 4)
	local dta0_too = dta.prefs.format ~= DTA1

	if dta0_too and pinfo.dst_port == N.DTA_NACK_PORT and
	    buf:len() >= N.DTA0_NACK_LEN and
	    buf(1, 1):uint() >= N.DTA0_NACK_FLAG then
		return dta0_nack(buf, pinfo, tree)
	end
	tree:add(df.version, buf(0, 1))
	if version == N.DTA_VERSION_1 then
		return dta1(buf, pinfo, tree)
	elseif version == N.DTA_VERSION_0 and dta0_too then
		return dta0(buf, pinfo, tree)
	end
	return "unknown version"
end

function dta.dissector(buf, pinfo, root)
	local tree = root:add(dta, buf())
	local why

	pinfo.cols.protocol = "DTA"
	pinfo.cols.info = "report"
	why = dta_report(buf, pinfo, tree)
	if buf:len() < buf:reported_len() then
		why = CUT
	end
	if why then
		malformed(tree, pinfo, df.reason, dta_expert, why)
	end
end

DissectorTable.get("udp.port"):add(N.DTA_PORT, dta)
DissectorTable.get("udp.port"):add(N.DTA_NACK_PORT, dta)
