#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# setup.sh LIST [SECTION...]: installs the Debian packages of LIST (one a line,
# under [SECTION] lines, # comments) that are missing: of these sections, or all.
# Says what it is about to do; sudo only where not root.
set -u
list=$1 sections=${*:2}

fail() {
	echo "setup: $*" >&2
	exit 1
}

installed() {
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

# The packages of these sections.
listed() {
	local line section=

	sed 's/#.*//; s/[[:space:]]//g; /^$/d' "$list" | while read -r line; do
		case $line in
		\[*\]) section=${line//[\[\]]/} ;;
		*)
			[[ -n $sections && " $sections " != *" $section "* ]] ||
				echo "$line"
			;;
		esac
	done
}

mapfile -t wanted < <(listed)
[ ${#wanted[@]} -gt 0 ] || fail "$list: no packages in it${sections:+: $sections}"
for tool in dpkg-query apt-get; do
	command -v $tool >/dev/null ||
		fail "not a Debian system; install what these hold: ${wanted[*]}"
done

missing=()
for p in "${wanted[@]}"; do
	installed "$p" || missing+=("$p")
done
if [ ${#missing[@]} = 0 ]; then
	echo "setup: all ${#wanted[@]} packages are there"
	exit 0
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null ||
		fail "neither root nor sudo; have installed: ${missing[*]}"
	as_root=(sudo)
fi
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y
	-o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=120)

echo "setup: about to install, with ${as_root[*]:-apt-get as root}:" \
	"${missing[*]}"
# A fresh machine or image has no package lists, or old ones.
if ! apt-cache show "${missing[@]}" >/dev/null 2>&1; then
	echo "setup: fetching package lists first"
	"${apt[@]}" update || fail "apt-get update failed"
fi
if ! "${apt[@]}" install --no-install-recommends "${missing[@]}"; then
	echo "setup: once more, with fresh package lists"
	"${apt[@]}" update || fail "apt-get update failed"
	"${apt[@]}" install --no-install-recommends "${missing[@]}" ||
		fail "apt-get install failed: ${missing[*]}"
fi
echo "setup: done"
