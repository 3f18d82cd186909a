# SPDX-License-Identifier: BSD-2-Clause
# The programs for Tofino: their types, and whether they fit into one. What they compute is in
# tests/unit/test_tofino.c, what they are told in tests/cli/tofino.bats.

load ../helpers

# look PROGRAM COMPILER [ARGUMENT ...]: runs it; skips the test where it is
# missing.
look() {
	local program=$1

	shift
	command -v "$1" >/dev/null ||
		skip "no $1: p4/README.md tells where to get it"
	[ -r "${TOFINO_INCLUDE:=/usr/share/p4c/p4include}/tna.p4" ] ||
		skip "no $TOFINO_INCLUDE/tna.p4: p4/README.md"
	run -0 "$@" --std p4-16 -D__TARGET_TOFINO__=1 \
		-I "$TOFINO_INCLUDE" -I "$TOP/p4/include" \
		-I "$TOP/p4/tna/common" -I "$TOP/p4/tna/$program" \
		"$TOP/p4/tna/$program/$program.p4"
}

# types PROGRAM: no error, no warning
types() {
	look "$1" "${P4TEST:-p4test}"
	[ -z "$output" ]
}

# fits PROGRAM: it is compiled, into the twelve stages that there are; a compiler
# may write more of them, which only the assembler refuses, and more besides
fits() {
	look "$1" "${BFP4C:-bf-p4c}" --target tofino --arch tna \
		-o "$BATS_TEST_TMPDIR/out"
	[ -s "$BATS_TEST_TMPDIR/out/pipe/context.json" ]
	grep -q '^stage 0 ' "$BATS_TEST_TMPDIR/out/pipe/$1.bfa"
	run -1 grep -E '^stage (1[2-9]|[2-9].) ' \
		"$BATS_TEST_TMPDIR/out/pipe/$1.bfa"
	[ -n "${BFAS:-}" ] || return 0
	cd "$BATS_TEST_TMPDIR/out/pipe" || return 1
	run -0 "$BFAS" "$1.bfa"
	[ -s tofino.bin ]
}

@test "tna/dta_translator: types" { types dta_translator; }
@test "tna/dta_reporter: types" { types dta_reporter; }
@test "tna/dart_reporter: types" { types dart_reporter; }
@test "tna/int_label: types" { types int_label; }
@test "tna/int_node: types" { types int_node; }

@test "tna/dta_translator: fits" { fits dta_translator; }
@test "tna/dta_reporter: fits" { fits dta_reporter; }
@test "tna/dart_reporter: fits" { fits dart_reporter; }
@test "tna/int_label: fits" { fits int_label; }
@test "tna/int_node: fits" { fits int_node; }
