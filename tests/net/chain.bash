# SPDX-License-Identifier: BSD-2-Clause
# Four network namespaces in a row, two of them routers, all of the kernel's
# own: load net, then load chain
#
#   source s0 --- a0 a a1 --- b0 b b1 --- c0 sink
#          fd00:1::       fd00:2::      fd00:3::
#
# Addresses end in 1 towards the source, in 2 towards the sink. Names are as in
# net.bash: on a COMMAND...

# Skips the test where the kernel or ip does not know IOAM.
need_ioam() {
	need_net
	[ -e /proc/sys/net/ipv6/ioam6_id ] || skip "a kernel without IOAM"
	ip ioam help 2>&1 | grep -q namespace ||
		skip "an ip without ioam: iproute2 from 5.16 on has it"
}

# link_up LEFT LEFT_IF RIGHT RIGHT_IF NET: both ends know each other.
link_up() {
	local left=$NET-$1 right=$NET-$3 i

	ip -n "$left" link add "$2" type veth peer name "$4" netns "$right"
	ip -n "$left" addr add "fd00:$5::1/64" dev "$2" nodad
	ip -n "$right" addr add "fd00:$5::2/64" dev "$4" nodad
	ip -n "$left" link set "$2" up
	ip -n "$right" link set "$4" up
	i=$(ip netns exec "$right" cat "/sys/class/net/$4/address")
	ip -n "$left" neigh replace "fd00:$5::2" lladdr "$i" dev "$2"
	i=$(ip netns exec "$left" cat "/sys/class/net/$2/address")
	ip -n "$right" neigh replace "fd00:$5::1" lladdr "$i" dev "$4"
}

chain_up() {
	local n

	for n in s a b c; do
		ip netns add "$NET-$n"
	done
	link_up s s0 a a0 1
	link_up a a1 b b0 2
	link_up b b1 c c0 3
	ip -n "$NET-a" route add fd00:3::/64 via fd00:2::2
	for n in a b; do
		on $n sysctl -qw net.ipv6.conf.all.forwarding=1
	done
}

# ioam_on NAMESPACE-NAME ID IN IN_ID OUT OUT_ID: it fills traces of packets that
# come in by IN; wide ids are the same and 2^20 more.
ioam_on() {
	local wide=$((1 << 20))

	on "$1" sysctl -qw "net.ipv6.ioam6_id=$2" \
		"net.ipv6.ioam6_id_wide=$(($2 + wide))" \
		"net.ipv6.conf.$3.ioam6_enabled=1" \
		"net.ipv6.conf.$3.ioam6_id=$4" \
		"net.ipv6.conf.$3.ioam6_id_wide=$(($4 + wide))" \
		"net.ipv6.conf.$5.ioam6_id=$6" \
		"net.ipv6.conf.$5.ioam6_id_wide=$(($6 + wide))"
}

chain_down() {
	local n

	for n in s a b c; do
		ip netns del "$NET-$n" 2>/dev/null || :
	done
}
