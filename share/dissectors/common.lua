-- SPDX-License-Identifier: BSD-2-Clause
-- Dissectors of DTA, INT-label, telemetry reports and INT for Wireshark and
-- tshark. The files beside this one are joined into one, behind the numbers of
-- lib/net/proto.h as a table N; this one comes first. Fields are named as the
-- rows of "dta-dump packets" are.
--
-- A read outside a packet is an error of Lua, so lengths are looked at before.

-- A name that proto.h does not have is an error here, and not nil.
setmetatable(N, { __index = function(_, name)
	error("lib/net/proto.h has no " .. name)
end })

local protocol_names = {
	[N.NET_PROTO_TCP] = "tcp",
	[N.NET_PROTO_UDP] = "udp",
	[N.NET_PROTO_ICMP] = "icmp",
	[N.NET_PROTO_ICMP6] = "icmp6",
	[N.NET_PROTO_SCTP] = "sctp",
	[N.NET_PROTO_GRE] = "gre",
	[N.NET_PROTO_ESP] = "esp",
}

-- Bytes as dta-dump prints them.
local function hex(range)
	return range:len() > 0 and range:bytes():tohex(true) or ""
end

-- The text of a flow; addresses are ranges of one length.
local function flow_of(src, dst, sport, dport, protocol)
	local function address(range)
		if range:len() == N.KEY_IP6_LEN then
			return "[" .. tostring(range:ipv6()) .. "]"
		end
		return tostring(range:ipv4())
	end
	return string.format("%s:%d>%s:%d/%s", address(src), sport,
		address(dst), dport,
		protocol_names[protocol] or tostring(protocol))
end

-- The same of a key's bytes: two addresses, two ports, the protocol.
local function flow_text(key)
	local six = key:len() == N.KEY_FLOW6_LEN
	local len = six and N.KEY_IP6_LEN or N.KEY_IP4_LEN

	return flow_of(key(0, len), key(len, len), key(2 * len, 2):uint(),
		key(2 * len + 2, 2):uint(), key(2 * len + 4, 1):uint())
end

-- len bytes from at on, or nil where there are none: a range is never empty.
local function part(buf, at, len)
	return len > 0 and buf(at, len) or nil
end

-- The packet within, as Wireshark dissects it. What is wrong with it stands in
-- the tree already when it comes back as an error of Lua. Packets within packets
-- without end would be too much for Lua's stack; what ends a packet altogether
-- does not come back here, so levels are counted for each packet.
local DEEPEST = 16
local level, level_of = 0, nil

local function inside(dissector, range, pinfo, root)
	if level_of ~= pinfo.number then
		level, level_of = 0, pinfo.number
	end
	if level < DEEPEST then
		level = level + 1
		pcall(function()
			dissector:call(range:tvb(), pinfo, root)
		end)
		level = level - 1
	end
end

-- The rest of a capture that was cut, or a packet whose lengths cannot be.
local CUT = "malformed or cut short"

-- A packet, or a part of it, that is wrong: a field that says why, in red, and
-- the word in the column.
local function malformed(tree, pinfo, field, expert, why)
	tree:add(field, why):add_proto_expert_info(expert, why)
	pinfo.cols.info:append(" [Malformed: " .. why .. "]")
end
