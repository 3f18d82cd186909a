-- SPDX-License-Identifier: BSD-2-Clause
-- Telemetry reports of P4.org, 0.5, 1.0 and 2.0: lib/int/treport.h has the
-- headers. Each report is a tree of its own, with what it and INT in its packet
-- say of the path.

local treport = Proto("treport", "Telemetry Report")

local tf = {
	version = ProtoField.string("treport.version", "Version"),
	hw_id = ProtoField.uint8("treport.hw_id", "Hardware"),
	sequence = ProtoField.uint32("treport.sequence", "Sequence"),
	node = ProtoField.uint32("treport.node", "Node"),
	time = ProtoField.uint32("treport.time", "Ingress time (ns)"),
	reason = ProtoField.string("treport.reason", "Malformed"),
}
treport.fields = tf
local treport_expert = ProtoExpert.new("treport.malformed",
	"Malformed report", expert.group.MALFORMED, expert.severity.ERROR)
treport.experts = { treport_expert }

local TRUNCATED = "a report is shorter than its headers"
local LENGTH = "lengths of a report do not fit into one another"
local TYPE = "unknown type of a report or of what is in it"

-- By InType of 2.0.
local inner_types = {
	[N.TREPORT_ETHERNET] = N.NET_ETHERTYPE_ETH,
	[N.TREPORT_IP4] = N.NET_ETHERTYPE_IP4,
	[N.TREPORT_IP6] = N.NET_ETHERTYPE_IP6,
}

-- D, Q and F, three bits from b on of the first word.
local function flags_at(word, b)
	return { D = word:bitfield(b, 1) == 1, Q = word:bitfield(b + 1, 1) == 1,
		F = word:bitfield(b + 2, 1) == 1 }
end

-- What the packet within says, or its flow; and what the report's own metadata
-- add: the reporter is the last node.
local function record_of(r, inner)
	local v = { opcode = "xd", flags = {}, hops = {} }

	if inner then
		local buf = inner:tvb()
		local at, exact = skip_link(buf, 0, inner_types[r.inner_type])
		local place = exact and r.flags.F and find_int(buf, at)
		local record = place and int_record(buf, place)
		if record then
			v = record
		elseif exact or r.inner_type ~= N.TREPORT_ETHERNET then
			v.key = flow_at(buf, at)
		end
	end
	for letter, set in pairs(r.flags) do
		v.flags[letter] = v.flags[letter] or set
	end
	if r.own or r.node and #v.hops == 0 then
		local hop = r.own or { range = r.node }
		hop.node = r.node or hop.node
		table.insert(v.hops, hop)
	end
	return v
end

-- Of the reports of a packet: the packets within write into the column, too.
local column = ""

local OWN = "(:" .. N.INT_REPORT_PORT .. "/udp)$"

-- A report that has been read: its tree, and the packet. Returns what is wrong
-- with it, or nil.
local function show_report(r, inner, pinfo, tree, root)
	local v = record_of(r, inner)

	if v.key and v.key:find(OWN) then
		return "a report of a report"
	end
	column = column .. " " .. show_record(tree, v)
	if inner and r.inner_type == N.TREPORT_ETHERNET then
		inside(Dissector.get("eth_withoutfcs"), inner, pinfo, root)
	elseif inner then
		inside(Dissector.get(r.inner_type == N.TREPORT_IP4 and "ip" or
			"ipv6"), inner, pinfo, root)
	end
	return nil
end

local function treport_05(buf, pinfo, tree, root)
	local extra = { [N.TREPORT_PLAIN] = 0,
		[N.TREPORT_DROP] = N.TREPORT_V05_DROP_LEN,
		[N.TREPORT_LOCAL] = N.TREPORT_V05_LOCAL_LEN }

	if buf:len() < N.TREPORT_V05_LEN then
		return TRUNCATED
	end
	local next = buf(0, 1):bitfield(4, 4)
	local r = { inner_type = N.TREPORT_ETHERNET,
		flags = flags_at(buf(0, 4), 8) }
	local md = N.TREPORT_V05_LEN
	tree:add(tf.hw_id, buf(3, 1), buf(3, 1):bitfield(2, 6))
	tree:add(tf.sequence, buf(N.TREPORT_V05_AT_SEQUENCE, 4))
	tree:add(tf.time, buf(N.TREPORT_V05_AT_TIME, 4))
	if not extra[next] then
		return TYPE
	elseif buf:len() < md + extra[next] then
		return TRUNCATED
	elseif next ~= N.TREPORT_PLAIN then
		r.node = buf(md, 4)
		tree:add(tf.node, r.node)
		local words = words_of[next == N.TREPORT_DROP and "drop" or "local"]
		local n = extra[next] / 4
		r.own = hop_of(layout_of(words, n, 2 ^ n - 1), buf(md, extra[next]))
	end
	md = md + extra[next]
	return show_report(r, part(buf, md, buf:len() - md), pinfo, tree, root)
end

local function treport_1(buf, pinfo, tree, root)
	if buf:len() < N.TREPORT_V1_LEN then
		return TRUNCATED
	end
	local first = buf(0, 4)
	local len = first:bitfield(4, 4) * 4
	local layout = layout_of(words_of.report1, N.TREPORT_V1_BITS,
		first:bitfield(11, N.TREPORT_V1_BITS))
	local r = { inner_type = N.TREPORT_ETHERNET + first:bitfield(8, 3),
		flags = flags_at(first, 23), node = buf(N.TREPORT_V1_AT_NODE, 4) }
	tree:add(tf.hw_id, buf(3, 1), first:bitfield(26, 6))
	tree:add(tf.node, r.node)
	tree:add(tf.sequence, buf(N.TREPORT_V1_AT_SEQUENCE, 4))
	tree:add(tf.time, buf(N.TREPORT_V1_AT_TIME, 4))
	if not inner_types[r.inner_type] then
		return TYPE
	elseif len < N.TREPORT_V1_LEN + layout.len then
		return LENGTH
	elseif buf:len() < len then
		return TRUNCATED
	elseif len > N.TREPORT_V1_LEN then
		r.own = hop_of(layout, buf(N.TREPORT_V1_LEN,
			len - N.TREPORT_V1_LEN))
	end
	return show_report(r, part(buf, len, buf:len() - len), pinfo, tree, root)
end

-- The first packet among TLVs. false: their lengths cannot be.
local function packet_of_tlvs(r, buf, at, end_at)
	local inner

	while at < end_at do
		local len = at + N.TREPORT_TLV_LEN <= end_at and
			buf(at + 1, 1):uint() * 4
		local type = N.TREPORT_DOMAIN + buf(at, 1):bitfield(0, 4)

		at = at + N.TREPORT_TLV_LEN
		if not len or at + len > end_at then
			return false
		elseif inner_types[type] and not inner then
			r.inner_type = type
			inner = part(buf, at, len)
		end
		at = at + len
	end
	return true, inner
end

-- One of a group's, [at, end_at) behind its first word.
local function treport_2(r, buf, at, end_at, pinfo, tree, root)
	local first = buf(at - N.TREPORT_V2_LEN, 4)
	local len = first:bitfield(16, 8) * 4
	local inner, ok

	r.flags = flags_at(first, 24)
	r.flags.I = first:bitfield(27, 1) == 1
	r.inner_type = first:bitfield(4, 4)
	if first:bitfield(0, 4) > N.TREPORT_INT then
		return TYPE
	elseif first:bitfield(0, 4) == N.TREPORT_INT then
		if at + N.TREPORT_V2_INT_LEN + len > end_at then
			return LENGTH
		end
		local layout = layout_of(words_of.report2, N.TREPORT_V2_BITS,
			buf(at, 2):uint())
		at = at + N.TREPORT_V2_INT_LEN
		if layout.len > len then
			return LENGTH
		elseif len > 0 then
			r.own = hop_of(layout, buf(at, len))
		end
		at = at + len
	end
	if r.inner_type == N.TREPORT_NONE and at < end_at then
		return LENGTH
	elseif r.inner_type == N.TREPORT_TLV then
		ok, inner = packet_of_tlvs(r, buf, at, end_at)
		if not ok then
			return LENGTH
		end
	elseif inner_types[r.inner_type] then
		inner = part(buf, at, end_at - at)
	elseif r.inner_type > N.TREPORT_IP6 then
		return TYPE
	end
	return show_report(r, inner, pinfo, tree, root)
end

local function treport_group(buf, pinfo, tree, root)
	local at = N.TREPORT_V2_GROUP_LEN

	if buf:len() < at + N.TREPORT_V2_LEN then
		return TRUNCATED
	end
	local first, why = buf(0, 4), nil
	local node = buf(N.TREPORT_V2_AT_NODE, 4)
	tree:add(tf.hw_id, buf(0, 2), first:bitfield(4, 6))
	tree:add(tf.sequence, first, first:bitfield(10, 22))
	tree:add(tf.node, node)
	while at < buf:len() do
		local words = at + N.TREPORT_V2_LEN <= buf:len() and
			buf(at + 1, 1):uint()
		local begin = at + N.TREPORT_V2_LEN

		if not words then
			return TRUNCATED
		end
		at = words == N.TREPORT_V2_OPEN and buf:len() or begin + words * 4
		if at > buf:len() then
			return LENGTH
		end
		local one = tree:add(treport, buf(begin - N.TREPORT_V2_LEN,
			at - begin + N.TREPORT_V2_LEN), "Report")
		why = treport_2({ node = node }, buf, begin, at, pinfo, one,
			root) or why
	end
	return why
end

function treport.dissector(buf, pinfo, root)
	local tree = root:add(treport, buf())
	local version = buf(0, 1):bitfield(0, 4)
	local read = ({ [0] = treport_05, treport_1, treport_group })[version]
	local why = "unknown version of a report"

	column = "report"
	if buf:len() < buf:reported_len() then
		why = CUT
	elseif read then
		tree:add(tf.version, buf(0, 1),
			({ [0] = "0.5", "1.0", "2.0" })[version])
		why = read(buf, pinfo, tree, root)
	end
	pinfo.cols.protocol = "Telemetry"
	pinfo.cols.info:clear_fence()
	pinfo.cols.info = column
	if why then
		malformed(tree, pinfo, tf.reason, treport_expert, why)
	end
end

DissectorTable.get("udp.port"):add(N.INT_REPORT_PORT, treport)
