-- SPDX-License-Identifier: BSD-2-Clause
-- The iCRC of RoCEv2 packets, which Wireshark shows and does not judge:
-- InfiniBand Architecture, annex A17.

local roce = Proto("roce", "RoCEv2 iCRC")
local rf = {
	icrc = ProtoField.string("roce.icrc", "iCRC"),
	right = ProtoField.uint32("roce.icrc.right", "Invariant CRC should be",
		base.HEX),
}
roce.fields = rf
local roce_expert = ProtoExpert.new("roce.icrc.bad", "Bad iCRC",
	expert.group.CHECKSUM, expert.severity.ERROR)
roce.experts = { roce_expert }

local ip_headers = { Field.new("ip"), Field.new("ipv6") }

-- CRC-32, a byte at a time; xor's results are signed where the bit is set.
local crc_table = {}
for byte = 0, 255 do
	local crc = byte

	for _ = 1, 8 do
		local low = crc % 2
		crc = math.floor(crc / 2) % 2 ^ 31
		crc = low == 1 and bit.bxor(crc, 0xedb88320) % 2 ^ 32 or crc
	end
	crc_table[byte] = crc
end

local function crc32(bytes)
	local crc = 0xffffffff

	for i = 0, bytes:len() - 1 do
		local at = bit.band(bit.bxor(crc, bytes:get_index(i)), 0xff)
		crc = bit.bxor(bit.rshift(crc, 8), crc_table[at])
	end
	return bit.bnot(crc) % 2 ^ 32
end

-- What routers and switches may change counts as ones, and eight bytes of ones
-- stand for the local route header that InfiniBand has. The number is as it
-- stands in the packet, which has its lowest byte first.
local function icrc_of(ip, six, udp_at, len)
	local bytes = ByteArray.new("ffffffffffffffff")

	bytes:append(ip(0, len):bytes())
	local function ones(at)
		bytes:set_index(8 + at, 0xff)
	end
	if six then
		bytes:set_index(8, 0x6f)
		ones(1) ones(2) ones(3)
		ones(N.NET_IP6_AT_HOPS)
	else
		ones(N.NET_IP4_AT_TOS)
		ones(N.NET_IP4_AT_TTL)
		ones(N.NET_IP4_AT_SUM)
		ones(N.NET_IP4_AT_SUM + 1)
	end
	ones(udp_at + N.NET_UDP_AT_SUM)
	ones(udp_at + N.NET_UDP_AT_SUM + 1)
	ones(udp_at + N.NET_UDP_LEN + N.ROCE_BTH_AT_RESERVED)
	return bit.bswap(crc32(bytes)) % 2 ^ 32
end

-- Where UDP's header is behind an IP header's first byte; nil: not at once, as
-- no standard says what the iCRC of such packets is.
local function udp_behind(ip, six)
	local at = six and N.NET_IP6_LEN or ip(0, 1):bitfield(4, 4) * 4
	local protocol = ip(six and N.NET_IP6_AT_NEXT or N.NET_IP4_AT_PROTO, 1)

	if protocol:uint() ~= N.NET_PROTO_UDP or at < N.NET_IP4_LEN then
		return nil
	end
	return at
end

-- The iCRC at the end of the datagram whose IP header begins at ip: the range,
-- and what it should be. nil: it is no RoCEv2, or cut.
local function icrc_in(ip)
	if ip:len() < N.NET_IP6_LEN then
		return nil
	end
	local six = ip(0, 1):bitfield(0, 4) == 6
	local udp_at = udp_behind(ip, six)
	if not six and ip(N.NET_IP4_AT_FRAGMENT, 2):uint() % 0x4000 ~= 0 or
	    not udp_at or ip:len() < udp_at + N.NET_UDP_LEN or
	    ip(udp_at + N.NET_UDP_AT_DST, 2):uint() ~= N.ROCE_PORT then
		return nil
	end
	local len = ip(udp_at + N.NET_UDP_AT_LEN, 2):uint()
	local end_at = udp_at + len - N.ROCE_ICRC_LEN
	if len < N.NET_UDP_LEN + N.ROCE_BTH_LEN + N.ROCE_ICRC_LEN or
	    ip:len() < udp_at + len then
		return nil
	end
	return ip(end_at, N.ROCE_ICRC_LEN), icrc_of(ip, six, udp_at, end_at)
end

function roce.dissector(buf, pinfo, root)
	for _, header in ipairs(ip_headers) do
		for _, ip in ipairs({ header() }) do
			local range, right = icrc_in(buf(ip.offset))

			if range then
				local ok = range:uint() == right
				local tree = root:add(roce, range)
				local item = tree:add(rf.icrc, range, ok and "ok" or "bad")
				tree:add(rf.right, range, right):set_generated()
				if not ok then
					item:add_proto_expert_info(roce_expert)
				end
			end
		end
	end
end

register_postdissector(roce)
