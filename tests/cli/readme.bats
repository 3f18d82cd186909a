# SPDX-License-Identifier: BSD-2-Clause
# README.md's tour, line by line, without a capture, as it says. What is printed
# there is of one; here every command has to work.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	ln -s "$TOP"/cmd .
	PREFIX=dta-test-$$-readme-
}

teardown() {
	remove_regions "$PREFIX"
}

# The commands of the tour, with regions by names of our own; what recipes.bats
# looks at closely is left out.
commands() {
	sed -n '/^## A tour/,/^## Where/{/^## Three/,/^## In-band/d;s/^    \$ //p;}' \
		"$TOP/README.md" |
		sed -E "s/--from office.pcap/--flows 10000/
			s|/tmp/tour|$BATS_TEST_TMPDIR/tour|g
			s/(--region|region) (fabric|events|paths|counts)\b/\1 $PREFIX\2/g"
}

@test "every command of the tour works" {
	commands >all
	[ "$(wc -l <all)" -ge 20 ]
	while read -r line; do
		echo "$ $line"
		case $line in
		tcpdump*) # a live capture: other programs than ours
			continue ;;
		"cd "*) # for all that follow
			eval "$line"
			continue ;;
		*" list -f "*) # ends when it is interrupted, with 0
			line="timeout --preserve-status -s INT 1 $line" ;;
		esac
		rc=0
		bash -o pipefail -c "$line" </dev/null >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" || rc=$?
		cat "$BATS_TEST_TMPDIR/out" "$BATS_TEST_TMPDIR/err"
		[ $rc = 0 ] || [[ $rc == 141 && $line == *"| head "* ]]
		[[ $line != *"echo \$?" || $(tail -n 1 "$BATS_TEST_TMPDIR/out") == 3 ]]
	done <all
	[ "$PWD" = "$BATS_TEST_TMPDIR/tour" ]
	[ "$(ls "$BATS_TEST_TMPDIR")" = "$(printf '%s\n' all cmd err out tour)" ]
	[ ! -e "/dev/shm/${PREFIX}fabric" ]
	[ ! -e "/dev/shm/${PREFIX}events" ]
	[ ! -e "/dev/shm/${PREFIX}paths" ]
	[ ! -e "/dev/shm/${PREFIX}counts" ]
}

# sample COMMAND: what README.md shows below it, without columns that are cut.
sample() {
	awk -v c="    \$ $1" 'inside && !/^    [^$]/ { exit }
		inside { gsub(/ +\.\.\. */, " "); print $0 }
		index($0, c) == 1 { inside = 1 }' "$TOP/README.md"
}

@test "what README.md shows of INT-label is so" {
	int-label-ctl sim --duration 30s --loss 7-2=20% --specific 20 --summary \
		-q -w labels.pcap
	sample "int-label-ctl -q -r labels.pcap --top links" >shown
	[ "$(wc -l <shown)" = 3 ]
	int-label-ctl -q -r labels.pcap --top links --once | head -n 3 |
		awk '{ print $1, $2, $3, $4, $5, $6, $7 }' >seen
	diff seen <(awk '{ $1 = $1; print }' shown)
	sample "int-label-ctl theory coverage" >shown
	[ "$(wc -l <shown)" = 2 ]
	diff <(int-label-ctl theory coverage -t 88ms -g 5ms | awk '{ $1 = $1; print }') \
		<(awk '{ $1 = $1; print }' shown)
}

@test "what README.md shows of INT is so, of real traffic" {
	local real=${TRACES:-$TOP/../shared/traces}/real-mix.pcap

	[ -r "$real" ] || skip "no $real"
	dta-gen int --from "$real" -q -w int.pcap
	sample "int-collect -r int.pcap" >shown
	[ "$(wc -l <shown)" = 4 ]
	diff <(int-collect -q -r int.pcap | head -n 4 | awk '{ print $1, $2, $3, $4, $5, $6 }') \
		<(awk '{ $1 = $1; print }' shown)
}

@test "the files that README.md names are there" {
	grep -oE '`(man|cmd|lib|tests)/[^` ]*`' "$TOP/README.md" | tr -d '`' |
		while read -r file; do
			echo "$file"
			[ -e "$TOP/$file" ]
		done
}

@test "lib/README.md: every room has its line, every file that is named is there" {
	local file room

	for room in "$TOP"/lib/*/; do
		grep -q "^| \`$(basename "$room")\` |" "$TOP/lib/README.md"
	done
	while read -r file; do
		[ -n "$(find "$TOP/lib" "$TOP/cmd" "$TOP/tests" -path "*/${file#tests/}")" ] ||
			{ echo "$file is not there" && false; }
	done < <(grep -oE '`[a-z0-9_/.]+\.(c|h|bpf\.c|txt)`' "$TOP/lib/README.md" |
		tr -d '`' | sort -u)
}
