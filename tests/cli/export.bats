# SPDX-License-Identifier: BSD-2-Clause
# Row sinks, whatever the database: files, URLs, a build without libraries.

load ../helpers
load ../databases

setup() {
	need_tools rows_to
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() { end_bg; }

@test "a file: rows are added, a header comes once" {
	rows_to "file:%m.csv?format=csv" <<<"put 3" >log
	balances log 3
	rows_to file:%m.csv <<<"put 2" >log
	[ "$(wc -l <hop.csv)" = 6 ]
	[ "$(grep -c '^time,node,port' hop.csv)" = 1 ]
	rows_to file:rows.ndjson <<<$'put 1000\nput 10 label' >log
	[ "$(jq -s 'length, map(select(.depth)) | length' rows.ndjson | xargs)" = "1010 1000" ]
	run -1 rows_to -e 1 file:/dev/full <<<"put 3"
	balances - 3 <<<"$output"
	[ "$(counter unsent <<<"$output")" = 3 ]
}

@test "CSV: a file for each kind of row, and none that holds something else" {
	rows_to "file:%m.csv?format=csv" <<<$'put 3\nput 4 label\nput 5 flow' >log
	balances log 12
	[ "$(wc -l hop.csv label.csv flow.csv | awk '{ print $1 }' | xargs)" = "4 5 6 15" ]
	head -qn 1 hop.csv label.csv | grep -c '^time,node,port' | grep -x 2
	[ "$(grep -c '^time' label.csv) $(head -n 1 label.csv | wc -w)" = "1 1" ]
	[ "$(cut -d, -f5 label.csv | head -n 1)" = latency ]
	rows_to "file:x.%m" <<<$'put 3\nput 4 label' >log
	[ "$(jq -r .measurement x.label | sort | uniq -c | xargs)" = "4 label" ]
	echo colour >label.csv
	run -0 rows_to "file:%m.csv?format=csv" <<<$'put 3\nput 4 label'
	[[ $output == *"label.csv holds something else: its first line is not the header of label"* ]]
	[ "$(counter refused <<<"$output") $(counter written <<<"$output")" = "4 3" ]
	[ "$(cat label.csv)" = colour ]
}

@test "a disk that was full: all rows are there, whole, once there is room" {
	unshare -rm mount -t tmpfs none /mnt 2>/dev/null || skip "no tmpfs of our own"
	TOOLS=$TOOLS timeout 60 unshare -rm bash -e <<-'END'
		mkdir small
		mount -t tmpfs -o size=64k none small
		head -c 60k /dev/zero >small/ballast
		mkfifo in
		"$TOOLS/rows_to" file:small/rows <in >log &
		exec 7>in
		printf 'put 200\nuntil retries 2\nstatus\n' >&7
		until grep -q '^down: No space left' log; do sleep 0.1; done
		rm small/ballast
		printf 'until written 200\nput 10\n' >&7
		exec 7>&-
		wait $!
		cp small/rows rows
	END
	balances log 210
	[ "$(counter log written)" = 210 ]
	[ "$(counter log retries)" -ge 2 ]
	jq -r .latency rows | diff - <(seq 0 209)
}

@test "a pipe whose reader went away: the next one gets the rows" {
	mkfifo pipe
	exec 8<>pipe
	begin "file:pipe?format=text" 8<&-
	echo status >&7
	wait_for grep -q rows log
	exec 8<&-
	printf 'put 100\nuntil retries 2\nstatus\n' >&7
	wait_for grep -q '^down: Broken pipe' log
	cat pipe >rest 7>&- &
	BG_PIDS+=("$!")
	echo 'until written 100' >&7
	finish
	balances log 100
	[ "$(counter log written)" = 100 ]
	lines() { [ "$(wc -l <rest)" = 101 ]; }
	wait_for lines
}

@test "SIGTERM ends it, rows are on their way" {
	begin file:rows.ndjson
	printf 'put 500\nuntil written 500\nput 7\n' >&7
	wait_for [ -s rows.ndjson ]
	kill "$ROWS_TO"
	finish
	balances log
	[ "$(wc -l <rows.ndjson)" = "$(counter log written)" ]
}

@test "URLs that are none, options that there are not" {
	refused() { # URL MESSAGE
		run -1 rows_to "$1" </dev/null
		[ "$output" = "rows_to: $2" ] || {
			echo "$output"
			return 1
		}
	}
	refused nowhere "'nowhere': no scheme, as in file:PATH or influx://HOST/DB"
	refused ftp://h "ftp://h: none of influx clickhouse redis kafka prometheus file"
	refused "nonsense:" "nonsense: no // before a host"
	refused "influx:h/db" "influx: no // before a host"
	refused file: "file:: no path: file:PATH"
	refused "file:x?format=xml" "file:x: format: 'xml' is none of text csv ndjson"
	refused "file:x?color=red" "file:x: color: file has no such option"
	refused "file:x?rows=0" "file:x: rows: 0 is not 1 to 1000000"
	refused "file:x.csv?format=csv" "file:x.csv: a CSV file has one kind of row: put %m into its name, for the kind's"
	refused "file:/none/%m" "file:/none/%m: No such file or directory"
	refused file:/none/x "file:/none/x: No such file or directory"
	refused influx://h "influx://h: no database: influx://HOST/DB"
	refused "influx://me:secret@h/x?names=no" "influx://h/x: names: influx has no such option"
	for scheme in influx clickhouse redis kafka; do
		refused "$scheme://h/x?timeout=0" "$scheme://h/x: timeout: '0' is not a time of 1ms or more"
	done
	refused "redis://h?retry=900us" "redis://h: retry: '900us' is not a time of 1ms or more"
	refused redis://a,b "redis://a,b: 'a,b' is not a host"
	refused "influx:///x" "influx:///x: '' is not a host"
}

@test "Kafka has no spool, beside databases that have one: librdkafka keeps the rows" {
	run -1 rows_to -e 1 -s spool kafka://127.0.0.1:1/x <<<"put 5"
	[ "$(counter unsent <<<"$output")" = 5 ]
	[ -z "$(find spool -type f)" ]
}

@test "a spool has one user" {
	begin -e 1 -s spool influx://127.0.0.1:1/x
	echo status >&7
	wait_for grep -q rows log
	run -1 rows_to -s spool influx://127.0.0.1:1/x </dev/null
	[[ $output == *"spool/influx-"*": another process uses it" ]]
	run rows_to -e 1 -s spool influx://127.0.0.1:1/y </dev/null # its own
	[ "$status" = 0 ]
	finish
}

@test "a build without the libraries says what is missing, and the cure" {
	local flags=()

	[[ $BUILD != *san* ]] || flags=(-fsanitize=address,undefined)
	# what is in front of the archive takes the place of its own
	cc -std=gnu11 -D_GNU_SOURCE -I"$TOP/lib" "${flags[@]}" -o none \
		"$TOP/tests/tools/rows_to.c" "$TOP"/lib/export/*_none.c \
		"$BUILD/libdta.a" -lz -lm -lpthread
	while read -r scheme lib package; do
		run -1 ./none "$scheme://h/x"
		[ "$output" = "rows_to: $scheme://h/x: built without $lib; install $package, and make again" ]
		grep -qx "$package" "$TOP/packages.txt"
	done <<-END
		influx libcurl libcurl4-openssl-dev
		clickhouse libcurl libcurl4-openssl-dev
		redis hiredis libhiredis-dev
		kafka librdkafka librdkafka-dev
		prometheus libmicrohttpd libmicrohttpd-dev
	END
	./none file:x <<<"put 1" >log
	balances log 1
}
