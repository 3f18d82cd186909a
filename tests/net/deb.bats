# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# The packages of make deb, installed and purged by root: in memory, above this
# machine's files, which stay as they are.

load ../helpers

setup() {
	[ "$(id -u)" = 0 ] || skip "needs root"
	[[ $BUILD != *-*san* ]] || skip "packages are of what is not sanitized"
	cd "$BATS_TEST_TMPDIR" || exit 1
	make -s -C "$TOP" B="${BUILD#"$TOP"/}" DEB="$PWD" deb >deb.log 2>&1 || {
		tail deb.log
		return 1
	}
}

@test "installed, and purged without a trace" {
	cat >inside <<-'END'
		set -eu
		mount -t tmpfs none /mnt
		mkdir -p /mnt/root/dev /mnt/root/tmp
		for d in usr etc var; do
			mkdir -p "/mnt/upper/$d" "/mnt/work/$d" "/mnt/root/$d"
			mount -t overlay none "/mnt/root/$d" -o \
				"lowerdir=/$d,upperdir=/mnt/upper/$d,workdir=/mnt/work/$d"
		done
		cp -P /bin /sbin /lib* /mnt/root
		cp ./*.deb /mnt/root/tmp
		mount --rbind /dev /mnt/root/dev
		mount -t tmpfs none /mnt/root/dev/shm
		export DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
		traces() { (cd /mnt/root && find etc usr var/lib \
			! -type d ! -path 'var/lib/dpkg/*' ! -path '*-' \
			! -name '.*lock' | sort; cat etc/passwd etc/group); }
		traces >before
		chroot /mnt/root sh -ec 'dpkg -i /tmp/*.deb >/tmp/log 2>&1 || {
			cat /tmp/log; exit 1; }
			getent passwd dta
			dta-gen -V
			test -e /etc/default/dta-collect@
			: >/etc/default/dta-collect@fabric
			mkdir -p /var/lib/dta
			: >/var/lib/dta/fabric.ini
			install -o dta -m 640 /dev/null /dev/shm/fabric
			systemctl enable dta-collect@fabric int-label-ctl
			cc /usr/share/dta/examples/ask.c -o /tmp/ask \
				$(pkg-config --cflags --libs dta)
			/tmp/ask fabric || python3 -c "import dta; print(dta.version())"'
		ls /mnt/root/etc/systemd/system/multi-user.target.wants
		traces >during
		chroot /mnt/root dpkg --purge dta libdta-dev \
			python3-dta libdta1
		traces >after
		ls /mnt/root/dev/shm >regions
	END
	unshare --mount --propagation private bash inside >log 2>&1 || { cat log; false; }
	cat log
	grep -q '^dta-collect@fabric.service$' log
	grep -q '^ask: fabric: ' log # an empty file
	grep -qx "$(dta-gen -V | sed -n '1s/.* //p')" log
	run -1 cmp before during
	diff before after
	[ ! -s regions ]
}
