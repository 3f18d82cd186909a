-- SPDX-License-Identifier: BSD-2-Clause
-- INT in packets, as the profile "any" of int-collect(1) reads it: MD 0.5, 1.0,
-- 2.x and MX over TCP, UDP, VXLAN-GPE, Geneve and GRE. lib/int/int_md.h has the
-- headers. It stands where Wireshark expects other things, so it is looked for
-- when that has done its work.

local int = Proto("int", "In-band Network Telemetry")

int.prefs.dscp = Pref.uint("DSCP of packets with INT", N.INT_DSCP,
	"The value that says that INT stands behind the header of TCP or UDP")

-- In the order in which dta-dump writes them; times are ns.
local int_fields = { "node", "ingress", "egress", "latency", "queue",
	"occupancy", "ingress_time", "egress_time", "ingress2", "egress2",
	"utilization", "buffer", "buffer_occupancy", "congestion",
	"drop_reason" }
local int_names = { "Node", "Ingress port", "Egress port",
	"Hop latency (ns)", "Queue", "Queue occupancy", "Ingress time (ns)",
	"Egress time (ns)", "Ingress port, level 2", "Egress port, level 2",
	"Utilization of the link", "Buffer", "Buffer occupancy",
	"Queue congestion", "Drop reason" }

local nf = {
	version = ProtoField.string("int.version", "Version"),
	opcode = ProtoField.string("int.opcode", "Kind"),
	bitmap = ProtoField.uint16("int.instructions", "Instructions",
		base.HEX),
	remaining = ProtoField.uint8("int.remaining", "Hops that may follow"),
	key = ProtoField.string("int.key", "Flow"),
	path_len = ProtoField.uint8("int.path_len", "Hops"),
	flags = ProtoField.string("int.flags", "Flags"),
	hop = ProtoField.string("int.hop", "Hop"),
	reason = ProtoField.string("int.reason", "Malformed"),
}
for i, name in ipairs(int_fields) do
	nf["hop_" .. name] = ProtoField.uint64("int.hop." .. name, int_names[i])
end
int.fields = nf
local int_expert = ProtoExpert.new("int.malformed", "Malformed INT",
	expert.group.MALFORMED, expert.severity.ERROR)
int.experts = { int_expert }

-- --- metadata: what the bits of the bitmaps stand for ------------------------

-- A word: its fields and their bytes. Where all of them are ones the node
-- cannot tell (INT 2.1, section 5.8).
local PORTS = { { "ingress", 2 }, { "egress", 2 } }
local LATENCY = { { "latency", 4 } }
local QUEUE = { { "queue", 1 }, { "occupancy", 3 } }
local UTILIZATION = { { "utilization", 4 } }
local BUFFER = { { "buffer", 1 }, { "buffer_occupancy", 3 } }
local DROP = { { "queue", 1 }, { "drop_reason", 1 }, { false, 2 } }
local PORTS2 = { { "ingress2", 4 }, { "egress2", 4 } }
local RESERVED = { { false, 4 } }

local function time(which, len)
	return { { which .. "_time", len } }
end

local words_of = {
	["0.5"] = { [0] = { { "node", 4 } }, PORTS, LATENCY, QUEUE,
		time("ingress", 4), time("egress", 4),
		{ { "queue", 1 }, { "congestion", 3 } }, UTILIZATION },
	["1.0"] = { [0] = { { "node", 4 } }, PORTS, LATENCY, QUEUE,
		time("ingress", 4), time("egress", 4), PORTS2, UTILIZATION },
	["2.x"] = { [0] = { { "node", 4 } }, PORTS, LATENCY, QUEUE,
		time("ingress", 8), time("egress", 8), PORTS2, UTILIZATION,
		BUFFER },
	-- Of reports.
	report1 = { [0] = PORTS, LATENCY, QUEUE, time("egress", 4), DROP,
		UTILIZATION },
	report2 = { PORTS, LATENCY, QUEUE, time("ingress", 8),
		time("egress", 8), PORTS2, UTILIZATION, BUFFER, [15] = DROP },
	drop = { [0] = { { "node", 4 } }, PORTS, DROP },
	["local"] = { [0] = { { "node", 4 } }, PORTS, QUEUE,
		time("egress", 4) },
}

-- Where the fields of a hop are, and its length; the bitmap has so many bits.
local function layout_of(words, bits, bitmap)
	local layout = { len = 0, count = 0 }

	for b = 0, bits - 1 do
		if math.floor(bitmap / 2 ^ (bits - 1 - b)) % 2 == 1 then
			local word = { at = layout.len, len = 0 }

			for _, f in ipairs(words[b] or RESERVED) do
				if f[1] then
					table.insert(layout, { name = f[1], len = f[2],
						at = word.at + word.len, word = word })
				end
				word.len = word.len + f[2]
			end
			layout.len = layout.len + word.len
			layout.count = layout.count + 1
		end
	end
	return layout
end

-- The fields that a hop has, by name: their ranges. A later one goes before an
-- earlier one of the same name.
local function hop_of(layout, range)
	local hop = { range = range }

	for _, f in ipairs(layout) do
		if hex(range(f.word.at, f.word.len)):find("[^fF]") then
			hop[f.name] = range(f.at, f.len)
		end
	end
	return hop
end

local function hop_text(hop)
	local text = {}

	for _, name in ipairs(int_fields) do
		if hop[name] then
			table.insert(text, name .. "=" .. tostring(hop[name]:uint64()))
		end
	end
	return table.concat(text, ",")
end

-- --- headers in front of it --------------------------------------------------

-- A number of n bytes, or nil: the packet ends before.
local function number(buf, at, n)
	return at + n <= buf:len() and buf(at, n):uint() or nil
end

local ip6_extensions = {
	[N.NET_IP6_HOP_BY_HOP] = true,
	[N.NET_IP6_ROUTING] = true,
	[N.NET_IP6_FRAGMENT] = true,
	[N.NET_IP6_DESTINATION] = true,
}

-- The IP header at that place: protocol, l4 (where that begins), end_at (where
-- the packet ends by its header), len. nil: it is none.
local function ip_at(buf, at)
	local version = number(buf, at, 1)

	version = version and math.floor(version / 16)
	if version == 4 and buf:len() >= at + N.NET_IP4_LEN then
		local head = buf(at, 1):bitfield(4, 4) * 4
		local len = buf(at + N.NET_IP4_AT_LEN, 2):uint()
		local fragment = buf(at + N.NET_IP4_AT_FRAGMENT, 2):uint() % 0x4000

		if head < N.NET_IP4_LEN or len < head or
		    buf:len() < at + head then
			return nil
		end
		return { at = at, l4 = at + head, end_at = at + len,
			protocol = buf(at + N.NET_IP4_AT_PROTO, 1):uint(),
			dscp = buf(at + N.NET_IP4_AT_TOS, 1):bitfield(0, 6),
			fragment = fragment ~= 0, later = fragment % 0x2000 ~= 0,
			src = buf(at + N.NET_IP4_AT_SRC, N.KEY_IP4_LEN),
			dst = buf(at + N.NET_IP4_AT_DST, N.KEY_IP4_LEN) }
	elseif version ~= 6 or buf:len() < at + N.NET_IP6_LEN then
		return nil
	end
	local ip = { at = at, l4 = at + N.NET_IP6_LEN,
		end_at = at + N.NET_IP6_LEN + buf(at + N.NET_IP6_AT_LEN, 2):uint(),
		protocol = buf(at + N.NET_IP6_AT_NEXT, 1):uint(),
		dscp = buf(at, 2):bitfield(4, 6),
		src = buf(at + N.NET_IP6_AT_SRC, N.KEY_IP6_LEN),
		dst = buf(at + N.NET_IP6_AT_DST, N.KEY_IP6_LEN) }
	while not ip.later and ip6_extensions[ip.protocol] do
		if math.min(buf:len(), ip.end_at) < ip.l4 + 8 then
			return nil
		end
		local len = 8
		if ip.protocol == N.NET_IP6_FRAGMENT then
			local fragment = buf(ip.l4 + 2, 2):uint()
			ip.later = fragment >= 8
			ip.fragment = ip.later or fragment % 2 == 1
		else
			len = 8 + buf(ip.l4 + 1, 1):uint() * 8
		end
		ip.protocol = buf(ip.l4, 1):uint()
		ip.l4 = ip.l4 + len
	end
	if math.min(buf:len(), ip.end_at) < ip.l4 then
		return nil
	end
	return ip
end

-- Where an IP header would be in what begins with that Ethernet type: behind
-- that of Ethernet, VLAN tags, MPLS labels; and whether it is of the version that
-- the type says.
local function skip_link(buf, at, type)
	if type == N.NET_ETHERTYPE_ETH then
		type = number(buf, at + N.NET_ETH_AT_TYPE, 2)
		at = at + N.NET_ETH_LEN
		for _ = 1, N.NET_VLAN_MAX do
			if type == N.NET_ETHERTYPE_VLAN or
			    type == N.NET_ETHERTYPE_QINQ then
				type = number(buf, at + N.NET_VLAN_AT_TYPE, 2)
				at = at + N.NET_VLAN_LEN
			end
		end
	end
	if type == N.NET_ETHERTYPE_MPLS or type == N.NET_ETHERTYPE_MPLS_UP then
		local last

		for _ = 1, N.NET_MPLS_MAX do
			if not last then
				last = (number(buf, at + N.NET_MPLS_AT_BOTTOM, 1) or 1) %
					2 == 1
				at = at + N.NET_MPLS_LEN
			end
		end
		return last and at or nil, true
	end
	local version = type and number(buf, at, 1)
	version = version and math.floor(version / 16)
	return type and at, type == N.NET_ETHERTYPE_IP4 and version == 4 or
		type == N.NET_ETHERTYPE_IP6 and version == 6
end

local function has_ports(protocol)
	return protocol == N.NET_PROTO_TCP or protocol == N.NET_PROTO_UDP
end

-- The flow of the packet whose IP header is at that place, or nil.
local function flow_at(buf, at)
	local ip = at and ip_at(buf, at)

	if not ip then
		return nil
	elseif ip.later or not has_ports(ip.protocol) then
		return flow_of(ip.src, ip.dst, 0, 0, ip.protocol)
	end
	local tcp = ip.protocol == N.NET_PROTO_TCP
	local len = tcp and N.NET_TCP_LEN or N.NET_UDP_LEN
	if math.min(buf:len(), ip.end_at) < ip.l4 + len then
		return nil
	end
	local head = buf(ip.l4 + N.NET_TCP_AT_OFFSET - (tcp and 0 or 12),
		1):bitfield(0, 4) * 4
	if tcp and (head < N.NET_TCP_LEN or head > ip.end_at - ip.l4) then
		return nil
	end
	return flow_of(ip.src, ip.dst, buf(ip.l4, 2):uint(),
		buf(ip.l4 + 2, 2):uint(), ip.protocol)
end

-- --- where it is: what is found is { header, stack, len...}; else why not -----

local BAD_LENGTH = "INT is too short for its headers, or beyond the packet"

-- Header and stack are len bytes at that place; old: before 2.0.
local function body_at(buf, p, at, len, old, tail)
	local version = number(buf, at, 1)

	p.header = at
	p.end_at = at + len
	if len < N.INT_HEADER1_LEN or p.end_at > p.limit then
		return nil, BAD_LENGTH
	elseif p.end_at > buf:len() then
		return nil, CUT
	end
	version = math.floor(version / 16)
	if version > 2 or old ~= (version < 2) then
		return nil, "unknown version of INT"
	end
	p.version = ({ [0] = "0.5", "1.0", "2.x" })[version]
	p.tail = tail and version == 0 and N.INT_TAIL_LEN or 0
	local head = old and N.INT_HEADER1_LEN or N.INT_HEADER2_LEN
	if len < head + p.tail then
		return nil, BAD_LENGTH
	end
	p.stack = at + head
	p.len = len - head - p.tail
	return p
end

local BAD_TYPE = "neither INT-MD nor INT-MX"

local function shim_at(buf, p, at, tail)
	if buf:len() < at + N.INT_SHIM_LEN or p.limit < at + N.INT_SHIM_LEN then
		return nil, buf:len() < p.limit and CUT or BAD_LENGTH
	end
	local first = buf(at, 1):uint()
	local old = first < 16

	p.shim = at
	p.type = old and first or math.floor(first / 16)
	if p.type ~= N.INT_TYPE_MD and (old or p.type ~= N.INT_TYPE_MX) then
		return nil, BAD_TYPE
	end
	local words = buf(at + (old and N.INT_SHIM1_AT_WORDS or
		N.INT_SHIM_AT_WORDS), 1):uint() - (old and 1 or 0)
	if words < 0 then
		return nil, BAD_LENGTH
	end
	return body_at(buf, p, at + N.INT_SHIM_LEN, words * 4, old, tail)
end

-- Of 2.x: what follows INT.
local function npt_of(buf, p)
	return buf(p.shim, 1):bitfield(4, 2)
end

local BAD_NEXT = "INT does not say what follows it"

local function by_dscp(buf, p, at)
	local found, why = shim_at(buf, p, at, true)

	if found and p.version == "2.x" and npt_of(buf, p) ~= 0 then
		return nil, BAD_NEXT
	end
	return found, why
end

local function by_port(buf, p, at)
	local found, why = shim_at(buf, p, at, true)

	if not found then
		return nil, why
	elseif p.version == "0.5" then
		p.port = buf(p.end_at - N.INT_TAIL_LEN + N.INT_TAIL_AT_PORT,
			2):uint()
		return p
	elseif p.version == "1.0" then
		return nil, BAD_NEXT
	end
	local next = buf(p.shim + N.INT_SHIM_AT_NEXT, 2):uint()
	if npt_of(buf, p) == N.INT_SHIM_NPT_UDP then
		p.port = next
		return p
	end
	p.protocol = next % 256
	return npt_of(buf, p) == N.INT_SHIM_NPT_IP and p or nil, BAD_NEXT
end

local vxlan_ints = {
	[N.INT_VXLAN_GPE_0_5] = true,
	[N.INT_VXLAN_GPE_1_0] = true,
	[N.INT_VXLAN_GPE_2_0] = true,
	[N.INT_VXLAN_GPE_2_1] = true,
}
local vxlan_types = {
	[N.NET_VXLAN_ETH] = N.NET_ETHERTYPE_ETH,
	[N.NET_VXLAN_IP4] = N.NET_ETHERTYPE_IP4,
	[N.NET_VXLAN_IP6] = N.NET_ETHERTYPE_IP6,
}

local function in_vxlan(buf, p, at)
	if math.min(buf:len(), p.limit) < at + N.NET_VXLAN_LEN or
	    buf(at, 1):bitfield(5, 1) == 0 or
	    not vxlan_ints[buf(at + N.NET_VXLAN_AT_NEXT, 1):uint()] then
		return nil
	end
	local found, why = shim_at(buf, p, at + N.NET_VXLAN_LEN, false)
	if found then
		p.inner_type = vxlan_types[buf(p.shim + N.INT_SHIM_AT_LAST,
			1):uint()]
		p.inner = p.end_at
		p.tunnel = true
	end
	return found, why
end

local function geneve_option(buf, p, at, len)
	p.type = buf(at + N.NET_GENEVE_OPTION_AT_TYPE, 1):uint()
	at = at + N.NET_GENEVE_OPTION_LEN
	local version = number(buf, at, 1)
	if len == 0 or not version or at >= p.limit then
		return nil, version and BAD_LENGTH or CUT
	end
	local old = version < 32
	if p.type ~= N.INT_TYPE_MD and (old or p.type ~= N.INT_TYPE_MX) then
		return nil, BAD_TYPE
	end
	return body_at(buf, p, at, len, old, false)
end

local function in_geneve(buf, p, at)
	if math.min(buf:len(), p.limit) < at + N.NET_GENEVE_LEN or
	    buf(at, 1):bitfield(0, 2) ~= 0 then
		return nil
	end
	p.inner_type = buf(at + N.NET_GENEVE_AT_TYPE, 2):uint()
	p.inner = at + N.NET_GENEVE_LEN + buf(at, 1):bitfield(2, 6) * 4
	p.tunnel = true
	if p.inner > p.limit then
		return nil, BAD_LENGTH
	end
	p.limit = p.inner
	at = at + N.NET_GENEVE_LEN
	while at + N.NET_GENEVE_OPTION_LEN <= math.min(buf:len(), p.limit) do
		local class = buf(at, 2):uint()
		local len = buf(at + N.NET_GENEVE_OPTION_AT_WORDS,
			1):bitfield(3, 5) * 4

		if class == N.INT_GENEVE_CLASS or
		    class == N.INT_GENEVE_CLASS_EXAMPLE then
			return geneve_option(buf, p, at, len)
		end
		at = at + N.NET_GENEVE_OPTION_LEN + len
	end
	return nil
end

local function in_gre(buf, p, at)
	if math.min(buf:len(), p.limit) < at + N.NET_GRE_LEN or
	    buf(at + N.NET_GRE_AT_TYPE, 2):uint() ~= N.INT_GRE_TYPE then
		return nil
	end
	local flags = buf(at, 2):uint()
	if bit.band(flags, N.NET_GRE_OTHER) ~= 0 then
		return nil, "GRE with routing, or of another version"
	end
	local shim = at + N.NET_GRE_LEN
	for b = 0, 3 do -- NET_GRE_SUM to NET_GRE_SEQUENCE
		shim = shim + 4 * buf(at, 2):bitfield(b, 1)
	end
	local found, why = shim_at(buf, p, shim, false)
	if found and p.version ~= "2.x" then
		return nil, "unknown version of INT"
	elseif found then
		p.inner_type = buf(p.shim + N.INT_SHIM_AT_NEXT, 2):uint()
		p.inner = p.end_at
		p.tunnel = true
	end
	return found, why
end

local function in_udp(buf, p, dscp)
	local at = p.ip.l4

	if math.min(buf:len(), p.limit) < at + N.NET_UDP_LEN then
		return nil
	end
	local port = buf(at + N.NET_UDP_AT_DST, 2):uint()
	local len = buf(at + N.NET_UDP_AT_LEN, 2):uint()
	local payload = at + N.NET_UDP_LEN
	if len < N.NET_UDP_LEN or at + len > p.limit then
		return nil
	end
	p.limit = at + len
	if port == N.INT_UDP_PORT then
		return by_port(buf, p, payload)
	elseif port == N.NET_VXLAN_GPE_PORT or port == N.NET_GENEVE_PORT then
		local q = setmetatable({}, { __index = p })
		local found, why = (port == N.NET_GENEVE_PORT and in_geneve or
			in_vxlan)(buf, q, payload)
		if found or why then
			return found, why
		end
	end
	return dscp and by_dscp(buf, p, payload) or nil
end

-- INT 0.5 behind TCP's options, where later versions have it before them.
local function behind_options(buf, at, n, limit)
	local left = math.min(buf:len(), limit) - at

	if n == 0 or left < n + N.INT_SHIM_LEN + N.INT_HEADER1_LEN then
		return false
	end
	local shim = buf(at + n, N.INT_SHIM_LEN + 1)
	local len = shim(N.INT_SHIM1_AT_WORDS, 1):uint() * 4
	return shim(0, 1):uint() == N.INT_TYPE_MD and shim(1, 1):uint() == 0 and
		shim(N.INT_SHIM_AT_LAST, 1):uint() == 0 and
		shim(N.INT_SHIM_LEN, 1):uint() < 16 and len <= left - n and
		len >= N.INT_SHIM_LEN + N.INT_HEADER1_LEN + N.INT_TAIL_LEN and
		buf(at + n + len - N.INT_TAIL_LEN, 1):uint() == N.NET_PROTO_TCP
end

local function in_tcp(buf, p, dscp)
	local at = p.ip.l4

	if not dscp or math.min(buf:len(), p.limit) < at + N.NET_TCP_LEN then
		return nil
	end
	local len = buf(at + N.NET_TCP_AT_OFFSET, 1):bitfield(0, 4) * 4
	if len < N.NET_TCP_LEN or at + len > p.limit then
		return nil
	end
	local n = len - N.NET_TCP_LEN
	at = at + N.NET_TCP_LEN
	return by_dscp(buf, p,
		behind_options(buf, at, n, p.limit) and at + n or at)
end

-- INT in the packet whose IP header is at that place; nil: it has none, or why
-- it cannot be read.
local function find_int(buf, at)
	local ip = at and ip_at(buf, at)

	if not ip or ip.fragment then
		return nil
	end
	local p = { ip = ip, limit = ip.end_at }
	local dscp = ip.dscp == int.prefs.dscp
	if ip.protocol == N.NET_PROTO_TCP then
		return in_tcp(buf, p, dscp)
	elseif ip.protocol == N.NET_PROTO_UDP then
		return in_udp(buf, p, dscp)
	elseif ip.protocol == N.NET_PROTO_GRE then
		return in_gre(buf, p, ip.l4)
	end
	return nil
end

-- --- what it says ------------------------------------------------------------

local function flow_of_place(buf, p)
	if p.tunnel then
		return flow_at(buf, (skip_link(buf, p.inner, p.inner_type)))
	elseif p.protocol == N.NET_PROTO_IP4 or p.protocol == N.NET_PROTO_IP6 then
		return flow_at(buf, p.end_at)
	end
	local protocol = p.protocol or p.ip.protocol
	local l4 = p.protocol and p.end_at or p.ip.l4
	if not has_ports(protocol) then
		return flow_of(p.ip.src, p.ip.dst, 0, 0, protocol)
	elseif buf:len() < l4 + 4 then
		return nil
	end
	return flow_of(p.ip.src, p.ip.dst, buf(l4, 2):uint(),
		p.port or buf(l4 + 2, 2):uint(), protocol)
end

-- The bytes of the stack that only the source has added: INT 2.1, section 5.8.
-- The instructions of no domain are known.
local function source_len(buf, p, hop_len, layout)
	local bits = buf(p.header + N.INT_AT_DOMAIN_BITS, 2)
	local set = 0

	for b = 0, 15 do
		set = set + bits:bitfield(b, 1)
	end
	if set == 0 then
		return 0
	elseif buf(p.header + N.INT_AT_DOMAIN, 2):uint() == 0 then
		return hop_len > 0 and p.len % hop_len or 0
	elseif hop_len < layout.len + set * 4 or p.len % hop_len ~= 0 then
		return p.len
	end
	return 0
end

-- The hops of a stack, in the order of the path. nil, why.
local function hops_of(buf, p, hop_len, layout)
	local new = p.version == "2.x"
	local domain = new and
		buf(p.header + N.INT_AT_DOMAIN_BITS, 2):uint() ~= 0
	local hops = {}

	if hop_len < layout.len or hop_len == 0 and not domain then
		return nil, "hops are shorter than the instructions ask for"
	end
	local len = p.len - (new and source_len(buf, p, hop_len, layout) or 0)
	if hop_len == 0 and len > 0 or hop_len > 0 and len % hop_len ~= 0 then
		return nil, "not whole hops"
	end
	for at = p.stack, p.stack + len - 1, math.max(hop_len, 1) do
		table.insert(hops, 1, hop_of(layout, buf(at, hop_len)))
	end
	return hops
end

-- The bits of the first word from 31 on that are flags E, M and C.
local int_flags = {
	["0.5"] = { C = 6, E = 7 },
	["1.0"] = { C = 6, E = 7, M = 8 },
	["2.x"] = { C = 4, E = 5, M = 6 },
}

-- A record: kind, flow, flags (as { E = true }), hops. nil, why.
local function int_record(buf, p)
	local head = buf(p.header, N.INT_HEADER1_LEN)
	local layout = layout_of(words_of[p.version], N.INT_BITMAP_BITS,
		head(N.INT_AT_BITMAP, 2):uint())
	local hop_len = head(N.INT_AT_HOP_WORDS, 1):bitfield(3, 5) * 4
	local mx = p.type == N.INT_TYPE_MX
	local v = { opcode = mx and "mx" or "md", flags = {}, hops = {},
		key = flow_of_place(buf, p), place = p }
	local why

	for letter, b in pairs(int_flags[p.version]) do
		v.flags[letter] = head(0, 4):bitfield(b, 1) == 1
	end
	if mx then
		-- Known by a length of hops: INT 2.1 of May 2020.
		if hop_len == 0 or hop_len < layout.len or
		    bit.band(head(0, 4):uint(), 0x01ffe0ff) ~= 0 then
			v.flags.E, v.flags.M = false, false
		end
		return v
	elseif p.version == "0.5" then
		hop_len = layout.len + 4 *
			(head(N.INT05_AT_HOP_WORDS, 1):bitfield(3, 5) - layout.count)
	end
	v.hops, why = hops_of(buf, p, hop_len, layout)
	if v.hops and p.version == "0.5" and
	    #v.hops ~= head(N.INT_AT_REMAINING, 1):uint() then
		return nil, "not as many hops as it says"
	end
	return v.hops and v, why
end

-- A hop that tells nothing is none. Returns how many it is.
local function show_hop(tree, hop)
	local text = hop_text(hop)

	if text == "" then
		return 0
	end
	tree = tree:add(nf.hop, hop.range, text)
	for _, name in ipairs(int_fields) do
		if hop[name] then
			tree:add(nf["hop_" .. name], hop[name])
		end
	end
	return 1
end

-- Returns what stands of it in the column.
local function show_record(tree, v)
	local flags, n = "", 0

	tree:add(nf.opcode, v.opcode):set_generated()
	if v.key then
		tree:add(nf.key, v.key):set_generated()
	end
	for letter in ("DQFIEMC"):gmatch(".") do
		flags = flags .. (v.flags[letter] and letter or "")
	end
	if flags ~= "" then
		tree:add(nf.flags, flags):set_generated()
	end
	for _, hop in ipairs(v.hops) do
		n = n + show_hop(tree, hop)
	end
	tree:add(nf.path_len, n):set_generated()
	return string.format("%s %shops=%d", v.opcode,
		v.key and v.key .. " " or "", n)
end

-- Ports whose packets are not looked into here.
local not_int = {
	[N.DTA_PORT] = true,
	[N.DTA_NACK_PORT] = true,
	[N.ROCE_PORT] = true,
	[N.INT_REPORT_PORT] = true,
}

local first_ip = { Field.new("ip"), Field.new("ipv6") }

function int.dissector(buf, pinfo, root)
	local at

	for _, field in ipairs(first_ip) do
		local ip = field()
		at = ip and (not at or ip.offset < at) and ip.offset or at
	end
	local ip = at and ip_at(buf, at)
	if not ip or ip.protocol == N.NET_PROTO_UDP and
	    not_int[number(buf, ip.l4 + N.NET_UDP_AT_DST, 2)] then
		return
	end
	local p, why = find_int(buf, at)
	local v
	if p then
		v, why = int_record(buf, p)
	end
	if not v and not why then
		return
	end
	local tree = root:add(int, buf(p and p.shim or p and p.header or ip.l4))
	pinfo.cols.protocol:append("/INT")
	if not v then
		return malformed(tree, pinfo, nf.reason, int_expert, why)
	end
	tree:set_len(p.end_at - (p.shim or p.header))
	tree:add(nf.version, p.version)
	tree:add(nf.bitmap, buf(p.header + N.INT_AT_BITMAP, 2))
	tree:add(nf.remaining, buf(p.header + N.INT_AT_REMAINING, 1))
	pinfo.cols.info:append(" [INT " .. show_record(tree, v) .. "]")
end

register_postdissector(int)
