#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# kernel.sh: gets the kernel of the guest with soft-RoCE: Debian's, as it is,
# out of the package that linux-image-amd64 depends on. Nothing is installed:
# what the guest needs goes to a cache directory, $DTA_CACHE/kernel (default
# ~/.cache/dta/kernel): vmlinux, the modules and the order to load them in.
# Where that cannot be done it says so, and the tests that need it skip.
set -u
cache=${DTA_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/dta}
kernel=$cache/kernel

# What the guest loads; what these depend on is found out.
wanted=(virtio_pci virtio_net crc32_generic rdma_rxe rdma_ucm ib_umad
	9pnet_virtio 9p)

without() {
	echo "setup: no kernel for tests/rxe, which will skip: $*"
	exit 0
}

# The depends= of a module's .modinfo section.
depends() {
	grep -aoPz '^depends=\K.*' "$1" | tr '\0,' ' '
}

# take MODULE: copies it after those that it depends on.
declare -A taken=()
take() {
	local path dep

	[ -z "${taken[$1]:-}" ] || return 0
	taken[$1]=1
	path=$(find "$work/x" -name "$1.ko" -o -name "${1//_/-}.ko" | head -n 1)
	if [ -z "$path" ]; then
		# Some are built in.
		grep -qE "/(${1}|${1//_/-})\.ko$" \
			"$work"/x/lib/modules/*/modules.builtin ||
			without "the package has no module $1"
		return 0
	fi
	for dep in $(depends "$path"); do
		take "$dep"
	done
	cp "$path" "$work/kernel/$1.ko"
	echo "$1" >>"$work/kernel/modules"
}

# The kernel itself, unpacked: that spares seconds of emulation at each boot.
unpack_kernel() {
	python3 - "$1" "$2" <<'PYTHON'
import lzma
import sys

with open(sys.argv[1], 'rb') as f:
    image = f.read()
at = image.find(b'\xfd7zXZ\0')
while at >= 0:
    try:
        out = lzma.LZMADecompressor().decompress(image[at:])
        if out[:4] == b'\x7fELF':
            with open(sys.argv[2], 'wb') as f:
                f.write(out)
            sys.exit(0)
    except lzma.LZMAError:
        pass
    at = image.find(b'\xfd7zXZ\0', at + 1)
sys.exit(1)
PYTHON
}

if [ -e "$kernel/version" ]; then
	echo "setup: kernel for tests/rxe: $(<"$kernel/version"), in $kernel"
	exit 0
fi
[ "$(uname -m)" = x86_64 ] || without "$(uname -m) is not x86_64"
for tool in apt-get apt-cache dpkg-deb python3; do
	command -v $tool >/dev/null || without "$tool is missing"
done
package=$(apt-cache depends linux-image-amd64 2>/dev/null |
	sed -n 's/^.*Depends: \(linux-image-[0-9].*\)$/\1/p' | head -n 1)
[ -n "$package" ] || without "apt-cache does not know linux-image-amd64"
mkdir -p "$cache" 2>/dev/null || without "$cache cannot be written"
work=$(mktemp -d "$cache/new.XXXXXX") || without "$cache cannot be written"
trap 'rm -rf "$work"' EXIT
mkdir "$work/kernel"

echo "setup: fetching $package (70 MB) for tests/rxe; it is not installed"
# As root apt would become another user, who cannot write here.
(cd "$work" && apt-get -q -o APT::Sandbox::User=root download "$package") \
	>"$work/log" 2>&1 || without "$(tail -n 1 "$work/log")"
deb=$(find "$work" -name '*.deb')
dpkg-deb -x "$deb" "$work/x" || without "$package cannot be unpacked"
for m in "${wanted[@]}"; do
	take "$m"
done
unpack_kernel "$work"/x/boot/vmlinuz-* "$work/kernel/vmlinux" ||
	cp "$work"/x/boot/vmlinuz-* "$work/kernel/vmlinux"
dpkg-deb -f "$deb" Version >"$work/kernel/version"
rm -rf "$kernel" # half a one
mv -T "$work/kernel" "$kernel" || without "$kernel cannot be written"
echo "setup: kernel for tests/rxe: $(<"$kernel/version"), in $kernel"
