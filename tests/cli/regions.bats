# SPDX-License-Identifier: BSD-2-Clause
# dta-dump regions: all regions of this machine, how old and full they are, and
# who writes them.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-re-$BATS_TEST_NUMBER
	printf '[flows]\nkind = keywrite\nkey = flow4\nvalue = 4\nslots = 64Ki\n' >l.ini
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

# Those of this test.
mine() {
	dta-dump regions "$@" -o ndjson | jq -c "select(.name | startswith(\"$NAME\"))"
}

@test "size, tables, epoch and its age, fill, the last write" {
	before=$(date +%s)
	dta-collect --create --layout l.ini --region "$NAME-a" --epochs 2
	dta-collect --create --layout l.ini --region "$NAME-b"
	mine | jq -se --arg n "$NAME" 'length == 2 and .[0].name == $n + "-a" and
		all(.tables == 1 and .epoch == 1 and .fill == 0 and .writers == 0 and
			.writer == null and .last_write == null and .age >= 0)'
	dta-gen uniform -c 20000 -q -w r.pcap
	dta-translate -q -r r.pcap -R "$NAME-a"
	mine | jq -se --argjson before "$before" '.[0] | .fill > 0.3 and .fill < 0.6
		and (.last_write | tonumber) >= $before'
	mine --no-load | jq -se '.[0].fill == null'
	dta-collect --rotate -R "$NAME-a"
	mine | jq -se '.[0] | .epoch == 2 and .fill == 0 and .age < 60'
	mine | jq -se --arg p "/dev/shm/$NAME-b" '.[1].path == $p or
		(.[1].path | endswith("-b"))'
	run -2 --separate-stderr dta-dump regions x
	[[ $stderr == *"region NAME one"* ]]
}

@test "who writes a region, as long as it does" {
	dta-collect --create --layout l.ini --region "$NAME"
	dta-gen uniform -c 10 -q -w r.pcap
	mkfifo pipe
	bg dta-translate -q -r pipe -R "$NAME"
	pid=$!
	exec 5>pipe
	cat r.pcap >&5
	writes() { mine | grep -q "\"writer\":\"$pid:dta-translate\""; }
	wait_for writes
	# In text it is one column, as it stands.
	dta-dump regions | grep -qF "  $pid:dta-translate "
	mine | jq -e '.writers == 1 and (.since | tonumber) > 0'
	run -1 dta-collect --remove --region "$NAME"
	[[ $output == *"$NAME: dta-translate (PID $pid) writes it: end that first" ]]
	exec 5>&-
	wait "$pid"
	mine | jq -e '.writers == 0 and .since == null'
}

@test "a writer of several cores is one program" {
	dta-collect --create --layout l.ini --region "$NAME"
	mkfifo pipe
	bg dta-translate -q -r pipe -R "$NAME" -j 3
	pid=$!
	exec 5>pipe
	dta-gen uniform -c 10 -q -w - >&5
	writes() { mine | grep -q "\"writer\":\"$pid:dta-translate\""; }
	wait_for writes
	mine | jq -e .writers==1
	dta-top --once -t regions -R "$NAME" --every 10ms -o ndjson |
		jq -e .writers==1
	exec 5>&-
	wait "$pid"
}

@test "a region that may not be read is named, here and by dta-top" {
	[ "$EUID" = 0 ] || skip "root can be somebody else"
	dta-collect --create --layout l.ini --region "$NAME-a"
	dta-collect --create --layout l.ini --region "$NAME-b"
	chmod 600 "$(dta-dump region "$NAME-b" -o ndjson | jq -r .path)"
	# Too small to be one.
	(umask 77; echo >"/dev/shm/$NAME-c")
	for run in "dta-dump regions" "dta-top --once -t regions --every 10ms"; do
		# shellcheck disable=SC2086 # words
		DTA_LEDGERS=/dev/shm run --separate-stderr setpriv --reuid 65534 \
			--clear-groups "$BUILD/"$run -o ndjson
		[ "$status" = 0 ]
		[ "$(jq -r '.name // .region' <<<"$output" | grep "^$NAME")" = "$NAME-a" ]
		grep "^${run%% *}: .*/$NAME-b: Permission denied: it belongs to root" <<<"$stderr"
		run ! grep "$NAME-c" <<<"$stderr"
	done
	rm "/dev/shm/$NAME-c"
}
