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
	# found by its name alone
	"$INTO/usr/bin/dta-collect" --create -l int-path.ini -R "$PWD/region"
	plugins=$(tshark -G folders 2>/dev/null |
		sed -n 's/^Global Lua Plugins:[[:space:]]*//p')
	[ -s "$INTO$plugins/dta.lua" ]
	make -s -C "$TOP" B="$B" uninstall DESTDIR="$INTO" PREFIX=/usr
	[ -z "$(find "$INTO" ! -type d)" ]
}

# with_compiler NAME: by a P4 compiler of that name, which is there or not.
with_compiler() {
	make -s -C "$TOP" B="$B" P4C="$PWD/$1" P4_TO="$PWD/p4" install \
		DESTDIR="$INTO" PREFIX=/usr
}

@test "P4 programs: compiled where there is a compiler, and no others" {
	cat >compiler <<-'END'
		#!/bin/bash
		while [ "$1" != -o ]; do shift; done
		echo "of $3" >"$2"
	END
	with_compiler none
	[ ! -e "$INTO/usr/share/dta/p4" ]
	chmod +x compiler
	with_compiler compiler
	[ "$(cat "$INTO"/usr/share/dta/p4/*.json)" = "$(cd "$TOP" &&
		ls p4/v1model/[di]*/[di]*_{label,node,reporter,translator}.p4 | sed 's/^/of /')" ]
	make -s -C "$TOP" B="$B" uninstall DESTDIR="$INTO" PREFIX=/usr
	[ -z "$(find "$INTO" ! -type d)" ]
}

@test "each example of options in /etc/default is a command line, real cards included" {
	local unit options command n=0

	grep -q -- '-i enp.*--peer-mac' "$TOP/share/deb/default/dta-collect@"
	grep -q -- '--verbs.*--peer-mac' "$TOP/share/deb/default/dta-collect@"
	grep -q -- '--to enp' "$TOP/share/deb/default/dta-translate@"
	for unit in "$TOP"/share/deb/default/*; do
		command=$(sed -n 's,^ExecStart=/usr/bin/,,p' \
			"$TOP/share/systemd/$(basename "$unit").service")
		while read -r options; do
			# There is no such card here, which is no fault of the line.
			options=$(sed "s,/usr/share/dta/examples,$EXAMPLES,
				s/\<\(eth\|enp1s0f\|mlx5_\)[01]/nowhere/g" <<<"$options")
			rm -f nowhere
			options=${command/\$OPTIONS/$options}
			run -1 timeout 60 bash -c "${options//%i/$PWD/nowhere}"
			[[ $output == *": "* && $output != *"try '"* ]]
			n=$((n + 1))
		done < <(sed -n 's/^#*OPTIONS="\(.*\)"$/\1/p' "$unit")
	done
	[ "$n" -ge 8 ]
}
