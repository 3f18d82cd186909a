# SPDX-License-Identifier: BSD-2-Clause
# The programs for Tofino: their types. What they compute is in
# tests/unit/test_tofino.c, what they are told in tests/cli/tofino.bats.

load ../helpers

# Skips the test where the types cannot be checked.
need_p4test() {
	command -v "${P4TEST:=p4test}" >/dev/null ||
		skip "no $P4TEST: p4/README.md tells where to get it"
	[ -r "${TOFINO_INCLUDE:=/usr/share/p4c/p4include}/tna.p4" ] ||
		skip "no $TOFINO_INCLUDE/tna.p4: p4/README.md"
}

# types PROGRAM: no error, no warning
types() {
	need_p4test
	run -0 "$P4TEST" --std p4-16 -D__TARGET_TOFINO__=1 \
		-I "$TOFINO_INCLUDE" -I "$TOP/p4/include" \
		-I "$TOP/p4/tna/common" -I "$TOP/p4/tna/$1" \
		"$TOP/p4/tna/$1/$1.p4"
	[ -z "$output" ]
}

@test "tna/dta_translator: types" { types dta_translator; }
@test "tna/dta_reporter: types" { types dta_reporter; }
@test "tna/dart_reporter: types" { types dart_reporter; }
@test "tna/int_label: types" { types int_label; }
@test "tna/int_node: types" { types int_node; }
