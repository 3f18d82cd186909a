#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# cross.sh setup: the libraries of the machines below, unpacked in build/cross;
# nothing of them is installed, and nothing runs as root.
# cross.sh BUILD_DIR: builds all for these machines, runs the unit tests under
# qemu-user, and compares what their programs and this machine's make of one
# capture. ONLY: these unit tests alone ("test_crc test_dta").
set -u
cd "$(dirname "$0")/.." || exit 1
top=$PWD
host=$(uname -m)
machines=(aarch64 s390x)
declare -A debian=([aarch64]=arm64 [s390x]=s390x)
export top

fail() {
	echo "check-cross: $*" >&2
	exit 1
}

# What the programs load, but AF_XDP's: the kernel's half is not built here.
libraries() {
	sed -n '/^\[build\]/,/^\[namespaces\]/s/^\([a-z0-9-]*-dev\)$/\1/p' \
		packages.txt | grep -v 'xdp\|bpf'
}

# apt-get for another machine, with lists of its own: the host's stay as they are.
apt_of() { # MACHINE, arguments
	local own=$top/build/cross/$1/apt arch=${debian[$1]}

	mkdir -p "$own"/{lists,archives}/partial
	: >"$own/status"
	apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
		-o Dir::State="$own" -o Dir::State::lists="$own/lists" \
		-o Dir::State::status="$own/status" -o Dir::Cache="$own" \
		-o APT::Install-Recommends=0 -o APT::Sandbox::User="$(id -un)" \
		-o Debug::NoLocking=1 "${@:2}"
}

unpack() { # MACHINE
	local to=$top/build/cross/$1/root deb link at

	[ "$(libraries)" != "$(cat "$to/libraries" 2>/dev/null)" ] || return 0
	echo "check-cross: about to fetch libraries for $1, 35 MB"
	rm -rf "$to" && mkdir -p "$to" && apt_of "$1" update &&
		mapfile -t debs < <(libraries) &&
		apt_of "$1" -y --download-only install "${debs[@]}" >/dev/null ||
		fail "$1: cannot fetch: ${debs[*]}"
	for deb in "build/cross/$1/apt/archives"/*.deb; do
		dpkg-deb -x "$deb" "$to" || fail "$deb: not unpacked"
	done
	find "$to" -lname '/*' -printf '%p %l\n' | while read -r link at; do
		ln -sfn "$to$at" "$link"
	done
	rm -rf "build/cross/$1/apt"
	libraries >"$to/libraries"
}

if [ "$1" = setup ]; then
	for m in "${machines[@]}"; do
		unpack "$m"
	done
	exit
fi
build=$top/$1
missing=()
for m in "${machines[@]}"; do
	for tool in "$m-linux-gnu-gcc" "qemu-$m"; do
		command -v "$tool" >/dev/null || missing+=("$tool")
	done
	[ -e "build/cross/$m/root/libraries" ] || missing+=("libraries for $m")
done
[ ${#missing[@]} = 0 ] || fail "missing: $(printf '%s, ' "${missing[@]}")$(
	)'make setup check-cross' gets it"

make_for() { # MACHINE
	local root=$top/build/cross/$1/root triplet=$1-linux-gnu

	${MAKE:-make} --no-print-directory B="build/cross/$1" BPFTOOL=false \
		CC="$triplet-gcc --sysroot=$root" AR="$triplet-ar" \
		PKG_CONFIG="env PKG_CONFIG_SYSROOT_DIR=$root PKG_CONFIG_LIBDIR=$(
			)$root/usr/lib/$triplet/pkgconfig:$root/usr/share/pkgconfig pkg-config" \
		all units
}

# on MACHINE PROGRAM ARGUMENTS...
on() {
	local m=$1 program=$2

	shift 2
	if [ "$m" = "$host" ]; then
		"$build/$program" "$@"
	else
		timeout 600 "qemu-$m" -L "$top/build/cross/$m/root" \
			"$top/build/cross/$m/$program" "$@"
	fi
}

# Why a unit test is left out; the slow ones run where ONLY names them.
left_out() { # TEST
	case $1 in
	test_live | test_live_packet) echo "AF_PACKET has no rings in qemu-user" ;;
	test_plan | test_requester | test_telemetry_events | test_int_md)
		[ -n "${ONLY+x}" ] || echo "half a minute or more in an emulator"
		;;
	esac
}

# What fails for the emulator's sake: words of the checks, and why. Each thread of a
# process, and a process to others, has another start time in qemu-user: it is
# taken for a dead one whose number is used again.
excused() { # TEST
	local start="threads and processes have other start times in qemu-user"

	case $1 in
	test_region) echo "st_blocks: qemu-user's madvise() fills no pages" ;;
	test_ledger_page) echo "read_page(name)|read_page(other)|$(
		)is_there(name)|n == 2|rmdir(dir): $start" ;;
	test_verbs_target) echo "waitpid(pid, &status: $start" ;;
	test_writer) echo "x.done_at == 1|wrong == 0|, old) == digest: $start" ;;
	esac
}

unit() { # MACHINE TEST
	local out=$work/$1-$2 why words began=$EPOCHREALTIME rc verdict=ok

	why=$(left_out "$2")
	if [ -n "$why" ]; then
		verdict=skip
	else
		on "$1" "tests/unit/$2" >"$out" 2>&1
		rc=$? why=
		if [ $rc = 77 ]; then
			verdict=skip why=$(tail -n 1 "$out")
		elif [ $rc = 1 ] && why=$(excused "$2") && [ -n "$why" ] &&
			words=${why%%:*} &&
			! grep 'failed:' "$out" | grep -qvF "${words//|/$'\n'}"; then
			why="but ${why#*: }"
		elif [ $rc != 0 ]; then
			verdict="not ok" why="status $rc"
		fi
	fi
	{
		flock 9
		printf '%-7s%-8s %-30s%6.1f s%s\n' "$verdict" "$1" "$2" \
			"$((${EPOCHREALTIME/[.,]/} - ${began/[.,]/}))e-6" "${why:+  $why}"
		[ "$verdict" != "not ok" ] || tail -n 20 "$out"
		echo "$verdict" >>"$work/verdicts"
	} 9>>"$work/lock"
}
export -f on unit left_out excused

# A capture and what it says, made by a machine of traffic.
workloads=(int-path int-postcard netseer-loss turboflow)
make_captures() { # MACHINE
	local i=0 w

	for w in "${workloads[@]}"; do
		on "$1" dta-gen "$w" --from "$traffic" --table $((++i))1 -q \
			--truth "$1-$w.csv" -w "$1-$w.pcap" || return
		on "$1" dta-dump packets "$1-$w.pcap" -o csv >"$1-$w.rows" || return
	done
	on "$1" dta-gen int --from "$traffic" -c 20000 -q --truth "$1-int.csv" \
		-w "$1-int.pcap"
}

# The same captures in the memory of a machine: put there by itself, and by
# another one over RoCEv2. Counters have the machine's byte order, by design:
# their rows are compared, of all other tables the bytes, too.
take_captures() { # MACHINE, of MACHINE, sent by MACHINE
	local r=dta-test-$$-$1 w way

	for way in local roce; do
		on "$1" dta-collect --create --layout layout.ini --region "$r" -q &&
			on "$1" dta-collect --region "$r" --ticket ticket.ini -q ||
			return
		for w in "${workloads[@]}"; do
			if [ $way = local ]; then
				on "$1" dta-translate -q -r "$2-$w.pcap" --region "$r"
			else
				on "$3" dta-translate -q -r "$2-$w.pcap" \
					--ticket ticket.ini -w - |
					on "$1" dta-collect -q --region "$r" -r -
			fi || return
		done
		on "$1" dta-collect -q --region "$r" --snapshot snapshot.dta &&
			on "$1" dta-dump digest "$r" -o csv >digest &&
			on "$1" dta-dump digest --snapshot snapshot.dta -o csv |
			diff digest - && grep -v '^packets' digest &&
			on "$1" dta-query keywrite -q --region "$r" -o csv \
				--keys "$2-int-path.csv" &&
			on "$1" dta-query path -q --region "$r" -o csv \
				--keys "$2-int-postcard.csv" &&
			on "$1" dta-query count -q --region "$r" -o csv \
				--keys "$2-turboflow.csv" &&
			on "$1" dta-query list -q --region "$r" -o csv -t losses6 &&
			! on "$3" dta-dump region "$r" 2>refused &&
			grep -o 'of another byte order' refused &&
			on "$1" dta-collect -q --remove --region "$r" || return
	done
}

# compare WHAT FILE FILE
compare() {
	if cmp -s "$2" "$3"; then
		echo "ok     $1: $(sha256sum <"$2" | head -c 16)"
		echo ok >>"$work/verdicts"
	else
		echo "not ok $1"
		diff "$2" "$3" | head -n 10
		echo "not ok" >>"$work/verdicts"
	fi
}

work=$(mktemp -d)
export work build host
trap 'rm -rf "$work" /dev/shm/dta-test-$$-*' EXIT
for m in "${machines[@]}"; do
	make_for "$m" || fail "$m: not built"
done
for m in "${machines[@]}"; do
	for t in tests/unit/test_*.c; do
		t=$(basename "$t" .c)
		[[ -x build/cross/$m/tests/unit/$t && " ${ONLY-$t} " == *" $t "* ]] &&
			printf '%s\0' "$m" "$t"
	done
done | xargs -0r -n 2 -P "$(nproc)" bash -c 'unit "$@"' _

cd "$work" || exit 1
export DTA_LEDGERS=$work
traffic=$top/tests/data/two-lines.pcap.gz
i=0
for w in "${workloads[@]}"; do
	sed "s/^id = /&$((++i))/; s/1Mi/64Ki/" \
		"$top/cmd/dta-collect/examples/$w.ini"
done >layout.ini
for m in "$host" "${machines[@]}"; do
	make_captures "$m" || fail "$m: no captures"
	cat "$m"-*.csv "$m"-*.rows >"$m.made"
done
for m in "${machines[@]}"; do
	compare "captures of $m, as rows" "$host.made" "$m.made"
done
for of in "$host" s390x; do
	for m in "$host" "${machines[@]}"; do
		other=s390x
		[ "$m" != s390x ] || other=$host
		take_captures "$m" "$of" "$other" >"$m.taken" ||
			fail "$m, captures of $of: $(tail -n 1 "$m.taken")"
		on "$m" int-collect -q -r "$of-int.pcap" -R all -o ndjson >"$m.int"
		[ -e taken ] || cp "$m.taken" taken
		[ -e int ] || cp "$m.int" int
		compare "$of's captures in memory, $m" taken "$m.taken"
		compare "$of's captures to int-collect, $m" int "$m.int"
	done
done
touch verdicts
failed=$(grep -c not verdicts)
echo "check-cross: $(grep -c '^ok' verdicts) passed, $failed failed," \
	"$(grep -c skip verdicts) left out"
[ "$failed" = 0 ]
