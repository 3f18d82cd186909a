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
		*" list -f "*) # ends when it is interrupted, with 0
			line="timeout --preserve-status -s INT 1 $line" ;;
		esac
		rc=0
		bash -o pipefail -c "$line" </dev/null >out 2>err || rc=$?
		cat out err
		[ $rc = 0 ] || [[ $rc == 141 && $line == *"| head "* ]]
		[[ $line != *"echo \$?" || $(tail -n 1 out) == 3 ]]
	done <all
	[ ! -e "/dev/shm/${PREFIX}fabric" ]
	[ ! -e "/dev/shm/${PREFIX}events" ]
	[ ! -e "/dev/shm/${PREFIX}paths" ]
	[ ! -e "/dev/shm/${PREFIX}counts" ]
}

@test "the files that README.md names are there" {
	grep -oE '`(man|cmd|lib|tests)/[^` ]*`' "$TOP/README.md" | tr -d '`' |
		while read -r file; do
			echo "$file"
			[ -e "$TOP/$file" ]
		done
}
