# SPDX-License-Identifier: BSD-2-Clause
# What the demos in network namespaces share: they begin in a directory of their
# own, and all that they make is gone when they end. Load it with DEMO, the
# demo's name, BUILD, where the programs are, and HOSTS, names of namespaces.
export PATH=$BUILD:$PATH
dir=$(mktemp -d)
net=dta-test-$$-demo
declare -A running=() # by id
cd "$dir"

clean() {
	local n

	for n in $HOSTS; do
		ip netns pids "$net-$n" 2>/dev/null | xargs -r kill 2>/dev/null || :
	done
	[ ${#running[@]} = 0 ] || wait "${!running[@]}" || :
	for n in $HOSTS; do
		ip netns del "$net-$n" 2>/dev/null || :
	done
	dta-collect --remove --region "$net" 2>/dev/null || :
	rm -rf "$dir"
}
trap clean EXIT
trap 'exit 1' INT TERM

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[ -t 1 ] || say() { printf '\n%s\n' "$*"; }
cannot() {
	echo "$DEMO: $*" >&2
	exit 1
}

# on NAME COMMAND...: in that namespace, as it is shown.
on() {
	printf '  %s# %s\n' "$1" "${*:2}"
	quietly "$@"
}
quietly() { ip netns exec "$net-$1" "${@:2}"; }

# start NAME COMMAND...: in that namespace, in the background, its id in started.
start() {
	ip netns exec "$net-$1" "${@:2}" <&0 &
	started=$!
	running[$started]=$1
}

stop() { # ID
	kill "$1"
	wait "$1" || cannot "what ran in ${running[$1]} has failed"
	unset "running[$1]"
}

# Waits until a command succeeds, 30 seconds at most.
wait_for() {
	local i

	for ((i = 0; i < 600; i++)); do
		if "$@"; then return; fi
		sleep 0.05
	done
	cat ./*log >&2
	cannot "waited in vain for: $*"
}

# cable NAME IFACE NAME IFACE: up, at both ends.
cable() {
	ip -n "$net-$1" link add "$2" type veth peer name "$4" netns "$net-$3"
	ip -n "$net-$1" link set "$2" up
	ip -n "$net-$3" link set "$4" up
}

need_root() {
	[ "$(id -u)" = 0 ] || cannot "only root can make network namespaces"
}

namespaces() {
	local n

	for n in $HOSTS; do
		{ ip netns add "$net-$n" && quietly "$n" true; } ||
			cannot "no network namespaces here"
	done
}
