# SPDX-License-Identifier: BSD-2-Clause
# Captures in gzip data are read as plain ones by every program; damage is told
# once what was whole has been used.

load ../helpers

setup() {
	NAME=dta-test-$$-gzip-$BATS_TEST_NUMBER
	cd "$BATS_TEST_TMPDIR" || exit 1
	dta-gen uniform --count 5000 -q -w r.pcap
	gzip -k r.pcap
}

teardown() {
	remove_regions "$NAME"
}

# By a region each: what is stored of two captures, `-` being standard input.
same_stored() { # capture capture
	make_regions "$EXAMPLES/uniform.ini"
	dta-translate -q -r "$1" --region "$NAME-file"
	dta-translate -q -r "$2" --region "$NAME-wire"
	same_memory
	remove_regions "$NAME"
}

@test "dta-translate: pcap and pcapng, a file and standard input, several members" {
	same_stored r.pcap r.pcap.gz
	same_stored r.pcap - <r.pcap.gz
	editcap -F pcapng r.pcap r.pcapng
	gzip -k r.pcapng
	same_stored r.pcap r.pcapng.gz
	same_stored r.pcap - <r.pcapng.gz
	cat r.pcapng | same_stored r.pcap -
	{ head -c 100001 r.pcap | gzip; tail -c +100002 r.pcap | gzip -1; } >two.gz
	same_stored r.pcap two.gz
}

@test "a pipe is unpacked by somebody else" {
	run -1 --separate-stderr sh -c "cat r.pcap.gz | dta-dump packets -"
	[ "$stderr" = "dta-dump: standard input: compressed, and no file: unpack it first, as with zcat" ]
	zcat r.pcap.gz | dta-dump packets - | cmp - <(dta-dump packets r.pcap)
}

@test "dta-gen, dta-collect, dta-dump: the same as of the plain capture" {
	for program in "dta-gen marple-hosts -q -w - --from" \
		"dta-dump packets -o csv"; do
		$program r.pcap >plain
		$program r.pcap.gz >packed
		cmp plain packed
		$program - <r.pcap.gz >packed
		cmp plain packed
	done
	make_regions "$EXAMPLES/uniform.ini"
	dta-collect --region "$NAME-file" --ticket ticket.ini
	dta-translate -q -r r.pcap --ticket ticket.ini -w roce.pcap
	gzip -k roce.pcap
	dta-collect -q --region "$NAME-file" -r roce.pcap -w plain
	dta-collect --region "$NAME-wire" --ticket ticket.ini
	dta-translate -q -r r.pcap --ticket ticket.ini -w - | gzip >roce.pcap.gz
	dta-collect -q --region "$NAME-wire" -r roce.pcap.gz -w packed
	same_memory
	[ "$(wc -c <plain)" = "$(wc -c <packed)" ]
}

fails() { # capture message least-stored
	make_regions "$EXAMPLES/uniform.ini" a
	run -1 --separate-stderr dta-translate -o ndjson -r "$1" --region "$NAME-a"
	echo "$stderr"
	[[ $stderr == *"dta-translate: $1: $2"* ]]
	balances - <<<"$stderr"
	[ "$(counter stored <<<"$stderr")" -ge "$3" ]
	remove_regions "$NAME"
}

@test "cut or damaged: the file is named, what was whole is stored" {
	head -c 50000 r.pcap.gz >cut.gz
	fails cut.gz "cut short: ends inside gzip data, after packet" 1000
	head -c -1 r.pcap.gz >cut.gz
	fails cut.gz "cut short: ends inside gzip data, after packet 5000" 5000
	size=$(stat -c %s r.pcap.gz)
	cp r.pcap.gz bad.gz
	printf '\x5a\xa5' | dd of=bad.gz bs=1 seek=$((size - 8)) conv=notrunc status=none
	fails bad.gz "damaged gzip data: incorrect data check, after packet" 4000
	gzip <"$EXAMPLES/uniform.ini" >text.gz
	run -1 --separate-stderr dta-dump packets text.gz
	[ "$stderr" = "dta-dump: text.gz: not a capture: neither pcap nor pcapng; if it is compressed, unpack it first" ]
}
