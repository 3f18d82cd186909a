# SPDX-License-Identifier: BSD-2-Clause
# Keys, which memory does not hold: those of a key log, and of lists.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-to-$BATS_TEST_NUMBER
}

teardown() { remove_regions "$NAME"; }

@test "dta-translate --key-log: every key that was reported, and few twice" {
	dta-collect --create --layout "$EXAMPLES/turboflow.ini" --region "$NAME"
	dta-gen turboflow --flows 3000 --ipv6 30 -q --truth truth.csv -w r.pcap
	dta-translate -q -r r.pcap -R "$NAME" --key-log keys
	sed 1d truth.csv | cut -d, -f3 | sort -u | diff - <(sort -u keys)
	[ "$(wc -l <keys)" -lt "$(($(wc -l <truth.csv) + 1))" ]
	dta-query count -R "$NAME" --keys keys -o csv | sort -u |
		cmp - <(dta-query count -R "$NAME" --keys truth.csv -o csv | sort -u)
	# A pipe, as the log of one that runs.
	dta-translate -q -r r.pcap -R "$NAME" --key-log - | cmp - keys
	run -1 --separate-stderr dta-translate -q -r r.pcap -R "$NAME" \
		--key-log /dev/full
	[[ $stderr == *"No space left"* ]]
	# Lists have no keys.
	dta-collect --remove -R "$NAME"
	dta-collect --create --layout "$EXAMPLES/netseer-loss.ini" --region "$NAME"
	dta-gen netseer-loss -q -w l.pcap
	dta-translate -q -r l.pcap -R "$NAME" --key-log none
	[ -e none ] && [ ! -s none ]
}
