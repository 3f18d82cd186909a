# SPDX-License-Identifier: BSD-2-Clause
# Guests with soft-RoCE, for bats files: load guest
#
#   guest_there               0 if the machine can run one; else prints why not
#   guest_needed              for setup(): skips the test where there is none
#   guest_start NAME [PEER]   boots one; its Ethernet is the pair of Unix datagram
#                             sockets $GUEST_DIR/NAME.sock and PEER.sock
#   guest_run COMMAND...      runs a line of shell in the guest $GUEST, as if here:
#                             output, errors and exit status are the command's
#   guest_stop [NAME]         ends one, or all
#   patient COMMAND...        until it succeeds, as wait_for, for a minute
#   on_a, on_b COMMAND...     guest_run, output and errors in one
#   guest_fails TEXT COMMAND  status 1, and one line, which begins so
#   guest_collect LAYOUT ARGUMENT...
#                             starts dta-collect on a new region r; COLLECTOR
#                             is its id
#   guest_hosts REGION PORT ARGUMENT...
#                             starts dta-collect in guest a for those who
#                             connect, and waits for it; to REGION.pid, .err
#   in_the_guest              the digests of region r
#
# $GUEST_DIR/NAME is /host in the guest. GUEST is the last one started; a line
# GUEST=b before guest_run picks another. Guest a is the collector, b the
# translator: see guest_settings. Call guest_start in setup_file, not in a
# subshell: a guest dies with the shell that started it. GUEST_QEMU: more
# arguments for QEMU.

GUEST_KERNEL=${DTA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/dta}/kernel
GUEST_MEMORY=${GUEST_MEMORY:-384}
GUEST_BOOT=${GUEST_BOOT:-120} # seconds, on a machine that has other things to do
GUEST_WAIT=${GUEST_WAIT:-90}  # for a command
GUEST_LIFE=${GUEST_LIFE:-900} # for a guest
GUEST_DIR=${GUEST_DIR:-${BATS_FILE_TMPDIR:-}/guests}
# What an emulated kernel spends its time on, and no test here is about.
GUEST_QUICK="lsm=landlock,capability audit=0 init_on_alloc=0 cryptomgr.notests"

guest_there() {
	local tool

	for tool in qemu-system-x86_64 busybox cpio setpriv ibv_devinfo rdma; do
		PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null || {
			echo "$tool is missing; make setup installs it"
			return 1
		}
	done
	[ -e "$GUEST_KERNEL/version" ] || {
		echo "no kernel in $GUEST_KERNEL; make setup fetches it"
		return 1
	}
}

guest_needed() {
	local why

	why=$(guest_there) || skip "$why"
	need_tools verbs_ask verbs_try
}

# Addresses: as tickets have them, and the other way around for guest b.
guest_settings() { # name
	local collector translator me other

	collector="10.0.0.51 fd00::51 02:00:00:00:00:02"
	translator="10.0.0.101 fd00::101 02:00:00:00:00:01"
	me=$collector other=$translator
	[ "$1" != b ] || me=$translator other=$collector
	# shellcheck disable=SC2086
	printf 'GUEST_IP=%s GUEST_IP6=%s GUEST_MAC=%s\n' $me
	# shellcheck disable=SC2086
	printf 'PEER_IP=%s PEER_IP6=%s PEER_MAC=%s\n' $other
}

guest_start() { # name, peer
	local name=$1 peer=${2:-switch} dir=$GUEST_DIR/$1 mac line

	mkdir -p "$dir/run"
	[ -e "$GUEST_DIR/image" ] ||
		"$TOP/tests/rxe/image.sh" "$BUILD" "$GUEST_KERNEL" \
			"$GUEST_DIR/image" || return
	guest_settings "$name" >"$dir/settings"
	mac=$(sed -n 's/.*GUEST_MAC=//p' "$dir/settings")
	rm -f "$GUEST_DIR/$name".{in,out,sock}
	mkfifo "$GUEST_DIR/$name.in" "$GUEST_DIR/$name.out" || return
	# The paths of sockets must be short: they are relative.
	(cd "$GUEST_DIR" && exec setpriv --pdeathsig TERM timeout -k 2 \
		"$GUEST_LIFE" qemu-system-x86_64 \
		-M q35 -accel tcg -cpu max -m "$GUEST_MEMORY" \
		-nodefaults -display none -no-reboot \
		-kernel "$GUEST_KERNEL/vmlinux" -initrd image \
		-append "console=ttyS0 panic=-1 quiet nokaslr mitigations=off no_timer_check $GUEST_QUICK" \
		-chardev file,id=console,path="$name.console" \
		-serial chardev:console \
		-chardev pipe,id=line,path="$name" -serial chardev:line \
		-netdev dgram,id=n0,local.type=unix,local.path="$name.sock",remote.type=unix,remote.path="$peer.sock" \
		-device virtio-net-pci,netdev=n0,mac="$mac",csum=off,guest_csum=off,gso=off,romfile= \
		-fsdev local,id=host,path="$name",security_model=none \
		-device virtio-9p-pci,fsdev=host,mount_tag=host,romfile= \
		${GUEST_QEMU:-} \
	) </dev/null >"$GUEST_DIR/$name.qemu" 2>&1 3>&- &
	echo $! >"$GUEST_DIR/$name.pid"
	GUEST=$name
	guest_reply "$GUEST_BOOT" line && [ "$line" = ready ]
}

# guest_reply SECONDS VARIABLE: the next line that the guest says.
guest_reply() {
	local i text begun=""

	for ((i = 0; i < $1; i++)); do
		if IFS= read -t 1 -r text <>"$GUEST_DIR/$GUEST.out"; then
			printf -v "$2" %s "$begun$text"
			return 0
		fi
		begun+=$text # half a line
		guest_lives || break
	done
	{
		echo "guest $GUEST: no answer"
		tail -n 20 "$GUEST_DIR/$GUEST.qemu" "$GUEST_DIR/$GUEST.console"
	} >&2
	return 124
}

guest_lives() {
	kill -0 "$(<"$GUEST_DIR/$GUEST.pid")" 2>/dev/null
}

guest_run() {
	local run=$GUEST_DIR/$GUEST/run n reply

	n=$(($(cat "$run/n" 2>/dev/null || echo 0) + 1))
	echo "$n" >"$run/n"
	printf '%s\n' "$*" >"$run/$n.sh"
	echo "$n" 1<>"$GUEST_DIR/$GUEST.in"
	guest_reply "$GUEST_WAIT" reply || return
	cat "$run/$n.err" >&2
	cat "$run/$n.out"
	[ "${reply% *}" = "$n" ] && return "${reply#* }"
	echo "guest $GUEST: answered $reply for $n" >&2
	return 125
}

guest_stop() { # name
	local pid i file

	for file in "$GUEST_DIR"/${1:-*}.pid; do
		[ -e "$file" ] || continue
		pid=$(<"$file") GUEST=${file##*/}
		GUEST=${GUEST%.pid}
		rm -f "$file"
		echo end 1<>"$GUEST_DIR/$GUEST.in"
		for ((i = 0; i < 100; i++)); do
			kill -0 "$pid" 2>/dev/null || break
			sleep 0.05
		done
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
}

# patient COMMAND...: until it succeeds, for a minute: emulated machines on a
# busy one are slow. So is asking them: not as often as wait_for does.
patient() {
	local end=$((SECONDS + 60))

	until "$@"; do
		[ $SECONDS -lt $end ] || {
			echo "waited in vain for: $*" >&2
			return 1
		}
		sleep 0.2
	done
}

on_a() { GUEST=a guest_run "$@" 2>&1; }
on_b() { GUEST=b guest_run "$@" 2>&1; }

guest_fails() { # [-STATUS] MESSAGE COMMAND: 1 unless told otherwise
	local want=1

	[[ $1 != -* ]] || { want=${1#-}; shift; }
	run guest_run "$2"
	echo "$output"
	[ "$status" = "$want" ]
	[ "${#lines[@]}" = 1 ]
	[[ $output == "$1"* ]]
}

guest_collect() {
	local layout=$1

	shift
	guest_run "rm -f /dev/shm/r new.ini
		dta-collect --create --layout $layout --region r"
	guest_run "dta-collect --region r --verbs rxe0 $* \
			>collect.out 2>collect.err & echo \$!" >pid
	COLLECTOR=$(<pid)
}

guest_hosts() {
	local region=$1 port=$2

	shift 2
	on_a "dta-collect --region $region --verbs rxe0 --cm $port $* \
			2>>$region.err & echo \$! >$region.pid"
	# It does not say when it listens; who asks does.
	patient on_b "verbs_ask 10.0.0.51 $port 4454413200000000" \
		>/dev/null
}

in_the_guest() { guest_run "dta-dump digest r -o csv"; }
