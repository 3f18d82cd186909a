#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# image.sh BUILD_DIR KERNEL_DIR OUT: the root file system of the guest, a cpio
# archive: busybox, modules, the programs that were built, a few tools, and the
# shared libraries of all. Needs no root.
set -eu
build=$1 kernel=$2 out=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(mktemp -d "$out.XXXXXX")
trap 'rm -rf "$root"' EXIT
chmod 755 "$root" # / of the guest, for all its users
export PATH=$PATH:/usr/sbin:/sbin

mkdir -p "$root"/{bin,sbin,dev,proc,sys,tmp,run,host,root,modules} \
	"$root"/etc/libibverbs.d
cp "$(command -v busybox)" "$root/bin/busybox"
cp "$here/init" "$root/init"
cp "$kernel"/*.ko "$kernel/modules" "$root/modules"
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
echo 'nobody:x:65534:65534:nobody:/:/bin/sh' >>"$root/etc/passwd"
echo 'driver rxe' >"$root/etc/libibverbs.d/rxe.driver"

programs=()
for p in "$build"/dta-* "$build"/tests/tools/* \
	"$(command -v ip)" "$(command -v rdma)" "$(command -v ibv_devinfo)"; do
	[ -f "$p" ] && [ -x "$p" ] && programs+=("$p")
done
cp "${programs[@]}" "$root/bin"
providers=(/usr/lib/*/libibverbs/librxe-rdmav*.so)

# Every library by the path that the loader will ask for.
ldd "${programs[@]}" "${providers[@]}" 2>/dev/null |
	grep -oE '/[^ ]+\.so[^ ]*' | sort -u >"$root.libs"
printf '%s\n' "${providers[@]}" >>"$root.libs"
grep -v ':$' "$root.libs" | sort -u |
	xargs cp -L --parents -t "$root"
rm -f "$root.libs"

(cd "$root" && find . | cpio -o -H newc -R 0:0 --quiet) >"$out"
