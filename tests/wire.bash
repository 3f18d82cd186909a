# SPDX-License-Identifier: BSD-2-Clause
# A network namespace of the test's own, in which nothing speaks by itself: load
# ../helpers, load ../wire. Its name carries the test's process's id.

WIRE=dta-test-$$-wire-$BATS_TEST_NUMBER

# wire_up [LEFT:RIGHT...]: makes it, with such pairs of interfaces beside lo.
# Skips the test where that cannot be.
wire_up() {
	local pair why

	[ "$(id -u)" = 0 ] || skip "not root: no network namespaces"
	why=$(ip netns add "$WIRE" 2>&1 && on_wire sh -c 'ip link set lo up
		cd /proc/sys/net/ipv6/conf 2>/dev/null || exit 0
		echo 1 | tee all/disable_ipv6 >default/disable_ipv6' 2>&1) ||
		skip "no network namespaces here: ${why%%$'\n'*}"
	for pair; do
		on_wire ip link add "${pair%:*}" type veth peer name "${pair#*:}"
		on_wire ip link set "${pair%:*}" up
		on_wire ip link set "${pair#*:}" up
	done
}

# on_wire COMMAND...: there. Not with bg and the like, which want the command's
# own id: ip netns exec "$WIRE" COMMAND...
on_wire() { ip netns exec "$WIRE" "$@"; }

wire_down() { ip netns del "$WIRE" 2>/dev/null || :; }
