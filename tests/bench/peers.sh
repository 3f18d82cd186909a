#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# peers.sh install: the packages of peers/packages.txt, those that can be had.
# peers.sh run BUILD_DIR [OPTION...] [FLOWS...]: the table, by BUILD_DIR's
# program and its options (-h).
set -euo pipefail
cd "$(dirname "$0")/../.."
here=tests/bench

install_packages() {
	local section

	sed -n 's/^\[\(.*\)\]$/\1/p' $here/peers/packages.txt | while read -r section; do
		tests/setup.sh $here/peers/packages.txt "$section" </dev/null ||
			echo "bench-peers: without $section" >&2
	done
}

run() {
	local build=$1 dir
	shift
	# shellcheck source=tests/bench/pages.sh
	. $here/pages.sh
	dir=$(mktemp -d)
	trap 'give_pages_back; rm -rf "'"$dir"'"' EXIT
	reserve_pages 3000
	# Huge pages for the heap, too, where the kernel gives them to who asks.
	GLIBC_TUNABLES=glibc.malloc.hugetlb=1 \
		"$build/$here/peers/peers" -d "$dir" "$@"
}

case ${1:-} in
install) install_packages ;;
run) run "${@:2}" ;;
*)
	echo "usage: peers.sh install | run BUILD_DIR [OPTION...]" >&2
	exit 2
	;;
esac
