-- SPDX-License-Identifier: BSD-2-Clause
-- INT-label: packets that carry the state of the ports they came through, and
-- those that the last switch exports. lib/label/label.h has the format.

local label = Proto("int-label", "INT-label")

label.prefs.max_hop = Pref.uint("MAX_hop of the network", N.LABEL_MAX_HOP,
	"More labels than that are those of a specific flow")

local lf = {
	next = ProtoField.uint8("label.next", "Protocol of the packet"),
	opcode = ProtoField.string("label.opcode", "Kind"),
	path_len = ProtoField.uint8("label.path_len", "Labels"),
	key = ProtoField.string("label.key", "Flow"),
	label = ProtoField.string("label.label", "Label"),
	node = ProtoField.uint32("label.node", "Node"),
	ingress_port = ProtoField.uint16("label.ingress_port", "Ingress port"),
	port = ProtoField.uint16("label.port", "Port"),
	time = ProtoField.uint64("label.time", "Label time (us)"),
	latency = ProtoField.uint32("label.latency", "Hop latency (ns)"),
	queue = ProtoField.uint32("label.queue", "Queue depth"),
	number = ProtoField.uint32("label.number", "Number"),
	reason = ProtoField.string("label.reason", "Malformed"),
}
label.fields = lf
local label_expert = ProtoExpert.new("label.malformed", "Malformed labels",
	expert.group.MALFORMED, expert.severity.ERROR)
label.experts = { label_expert }

-- As dta-dump writes it.
local function label_text(item)
	return string.format("%d:%d>%d@%sus,latency=%d,queue=%d,number=%d",
		item(0, 4):uint(), item(N.LABEL_ITEM_AT_INGRESS, 2):uint(),
		item(N.LABEL_ITEM_AT_EGRESS, 2):uint(),
		tostring(item(N.LABEL_ITEM_AT_TIME, 6):uint64()),
		item(N.LABEL_ITEM_AT_LATENCY, 4):uint(),
		item(N.LABEL_ITEM_AT_QUEUE, 4):uint(),
		item(N.LABEL_ITEM_AT_NUMBER, 4):uint())
end

local function label_item(tree, item)
	tree = tree:add(lf.label, item, label_text(item))
	tree:add(lf.node, item(0, 4))
	tree:add(lf.ingress_port, item(N.LABEL_ITEM_AT_INGRESS, 2))
	tree:add(lf.port, item(N.LABEL_ITEM_AT_EGRESS, 2))
	tree:add(lf.time, item(N.LABEL_ITEM_AT_TIME, 6))
	tree:add(lf.latency, item(N.LABEL_ITEM_AT_LATENCY, 4))
	tree:add(lf.queue, item(N.LABEL_ITEM_AT_QUEUE, 4))
	tree:add(lf.number, item(N.LABEL_ITEM_AT_NUMBER, 4))
end

-- The packet's own flow. Addresses are those of the IP header before.
local function label_flow(pinfo, protocol, rest)
	local sport, dport = 0, 0

	local function address(a)
		a = tostring(a)
		return a:find(":") and "[" .. a .. "]" or a
	end
	if rest and rest:len() >= 4 and (protocol == N.NET_PROTO_TCP or
	    protocol == N.NET_PROTO_UDP) then
		sport, dport = rest(0, 2):uint(), rest(2, 2):uint()
	end
	return string.format("%s:%d>%s:%d/%s", address(pinfo.net_src), sport,
		address(pinfo.net_dst), dport,
		protocol_names[protocol] or tostring(protocol))
end

function label.dissector(buf, pinfo, root)
	local tree = root:add(label, buf())
	local max = label.prefs.max_hop

	pinfo.cols.protocol = "INT-label"
	if buf:len() < N.LABEL_OPTION_LEN then
		return malformed(tree, pinfo, lf.reason, label_expert, CUT)
	end
	local protocol = buf(0, 1):uint()
	local count = buf(N.LABEL_AT_COUNT, 1)
	local n = count:uint() > max and count:uint() - max or count:uint()
	local len = N.LABEL_OPTION_LEN + n * N.LABEL_ITEM_LEN

	tree:add(lf.next, buf(0, 1))
	if buf:len() < len then
		return malformed(tree, pinfo, lf.reason, label_expert, CUT)
	end
	local rest = part(buf, len, buf:len() - len)

	tree:set_len(len)
	tree:add(lf.opcode, count, count:uint() > max and "specific" or "normal")
	tree:add(lf.path_len, count, n)
	tree:add(lf.key, label_flow(pinfo, protocol, rest)):set_generated()
	for at = N.LABEL_OPTION_LEN, len - 1, N.LABEL_ITEM_LEN do
		label_item(tree, buf(at, N.LABEL_ITEM_LEN))
	end
	local behind = DissectorTable.get("ip.proto"):get_dissector(protocol)
	if rest and behind then
		inside(behind, rest, pinfo, root)
		pinfo.cols.protocol:append("/INT-label")
	end
	pinfo.cols.info:append(" [labels=" .. n .. "]")
end

local exported = Proto("int-label-export", "INT-label, exported")

-- A packet that carries labels; others are none of ours.
function exported.dissector(buf, pinfo, root)
	local six = buf(0, 1):bitfield(0, 4) == 6
	local at = six and N.NET_IP6_AT_NEXT or N.NET_IP4_AT_PROTO

	if buf:len() <= at or buf(at, 1):uint() ~= N.LABEL_PROTOCOL then
		return 0
	end
	root:add(exported, buf())
	inside(Dissector.get("ip"), buf(), pinfo, root)
	return buf:len()
end

DissectorTable.get("ip.proto"):add(N.LABEL_PROTOCOL, label)
DissectorTable.get("udp.port"):add(N.LABEL_EXPORT_PORT, exported)
