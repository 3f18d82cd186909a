# SPDX-License-Identifier: BSD-2-Clause
# bats file_tags=full
# make deb: what Debian says of the packages; hardening; units by systemd-analyze;
# completion. tests/net/deb.bats installs them.

load ../helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit 1
	[[ $BUILD != *-*san* ]] || skip "packages are of what is not sanitized"
	# stands in for a P4 compiler
	printf '#!/bin/sh\nwhile [ "$1" != -o ]; do shift; done; echo {} >"$2"\n' >p4c
	chmod +x p4c
	make -s -C "$TOP" B="${BUILD#"$TOP"/}" DEB="$PWD" P4C="$PWD/p4c" \
		P4_TO="$PWD/p4" deb >deb.log 2>&1 || {
		tail deb.log
		return 1
	}
	make -s -C "$TOP" B="${BUILD#"$TOP"/}" install PREFIX="$PWD/into" >install.log
}

setup() { cd "$BATS_FILE_TMPDIR" || exit 1; }

@test "lintian: no error" {
	run lintian --allow-root --fail-on error ./*.deb
	echo "$output"
	[ "$status" = 0 ]
}

@test "P4 programs are in a package, where there is a compiler" {
	dpkg -c dta_*.deb >said
	grep -q ' ./usr/share/dta/p4/dta_translator.json$' said
	grep -q ' ./usr/share/dta/p4/int_label.json$' said
}

@test "programs are hardened" {
	for p in $(programs); do
		readelf -dlW "into/bin/$p" >said
		grep -q 'FLAGS_1.*NOW PIE' said
		grep -q GNU_RELRO said
		nm -D "into/bin/$p" >said
		grep -q __stack_chk_fail said
		grep -q '_chk@' said
	done
}

@test "units: understood, hardened, no rest of another prefix" {
	systemd-analyze verify --man=no into/lib/systemd/system/*.service
	for unit in into/lib/systemd/system/*.service; do
		systemd-analyze security --no-pager --offline=yes --threshold=29 "$unit" |
			tail -n 1
		run -1 grep /usr/ "$unit"
	done
	[ "$(ls into/lib/systemd/system)" = "$(cd "$TOP/share/systemd" && ls ./*.service |
		sed 's,./,,')" ]
}

# completes WORD...: what the last of them may become.
completes() {
	. "into/share/bash-completion/completions/$1"
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_dta "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
	echo "${COMPREPLY[*]}"
}

@test "completion: each option of each program, subcommands, words" {
	for p in $(programs); do
		for option in $("$p" --help-all | grep -oE '^  (-., |    )--[a-z0-9-]+' |
			grep -o -e '--.*'); do
			[[ " $(completes "$p" "$option") " == *" $option "* ]]
		done
	done
	[ "$(completes dta-query "")" = "count keywrite list path verify why" ]
	[ "$(completes dta-query keywrite --output n)" = ndjson ]
	[ "$(completes dta-gen int-pa)" = int-path ]
	[ "$(completes dta-gen uniform --kind p)" = postcard ]
	[ "$(completes dta-gen int --instr)" = --instructions ]
	[[ $(completes int-collect -i "") == *lo* ]]
	[ -z "$(completes dta-collect --mtu "")" ]
}

@test "completion: regions that exist, and their tables" {
	NAME=dta-test-$BATS_ROOT_PID-
	dta-collect --create --layout "$EXAMPLES/int-path.ini" --region "${NAME}deb"
	[ "$(completes dta-query keywrite --region "$NAME")" = "${NAME}deb" ]
	[ "$(completes dta-query keywrite --region = "$NAME")" = "${NAME}deb" ]
	[ "$(completes dta-dump region "$NAME")" = "${NAME}deb" ]
	[[ " $(completes dta-query keywrite -R "${NAME}deb" -t "") " == *" flows "* ]]
	remove_regions "$NAME"
}
