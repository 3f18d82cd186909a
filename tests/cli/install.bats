# SPDX-License-Identifier: BSD-2-Clause
# make install, what is there then, and make uninstall.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	INTO=$PWD/into
	B=${BUILD#"$TOP"/}
}

@test "programs, pages, examples, library: there, and gone again" {
	make -s -C "$TOP" B="$B" install DESTDIR="$INTO" PREFIX=/usr
	for p in $(programs); do
		"$INTO/usr/bin/$p" -V
		[ -s "$INTO/usr/share/man/man1/$p.1" ]
	done
	"$INTO/usr/bin/dta-switch" -h
	[ -s "$INTO/usr/share/man/man7/dta.7" ]
	[ -s "$INTO/usr/share/man/man5/dta-region.5" ]
	examples=$(sed -n 's,^\.Pa \(/.*/examples\).*,\1,p' \
		"$INTO/usr/share/man/man1/dta-collect.1")
	[ -s "$INTO$examples/int-path.ini" ]
	plugins=$(tshark -G folders 2>/dev/null |
		sed -n 's/^Global Lua Plugins:[[:space:]]*//p')
	[ -s "$INTO$plugins/dta.lua" ]
	make -s -C "$TOP" B="$B" uninstall DESTDIR="$INTO" PREFIX=/usr
	[ -z "$(find "$INTO" -type f)" ]
}

@test "a program of one's own, by pkg-config" {
	make -s -C "$TOP" B="$B" install DESTDIR="$INTO" PREFIX=/usr
	cat >own.c <<-'EOF'
		#include <packet/pkt.h>
		#include <stdio.h>
		#include <region/snapshot.h>

		int main(int argc, char **argv)
		{
			struct snapshot *snapshot;
			struct error err = {0};
			struct src *s;
			struct pkt p[64];
			int n, all = 0;

			if (argc != 2 || src_open(&s, argv[1], &err) < 0)
				return 1;
			while ((n = src_rx(s, p, 64, &err)) > 0)
				all += n;
			src_close(s);
			n = snapshot_open(&snapshot, argv[1], &err);
			printf("%d packets, %s\n", all, n ? err.text : "?");
			return 0;
		}
	EOF
	export PKG_CONFIG_PATH=$INTO/usr/lib/pkgconfig
	flags=$(pkg-config --define-variable=prefix="$INTO/usr" \
		--cflags --libs libdta)
	[[ $BUILD != *san* ]] || flags+=" -fsanitize=address,undefined"
	cc -Wall -Wextra -Werror own.c $flags -o own
	dta-gen uniform --count 7 -q -w x.pcap
	[ "$(./own x.pcap)" = "7 packets, x.pcap: not a snapshot" ]
}
