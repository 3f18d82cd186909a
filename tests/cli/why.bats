# SPDX-License-Identifier: BSD-2-Clause
# dta-query why: what is in each place of a key, and the likeliest reason why it
# is not found.

load ../helpers
load ../top

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	export DTA_LEDGERS=$PWD/pages
	mkdir pages
	NAME=dta-test-$$-wh-$BATS_TEST_NUMBER
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

make() { # kind slots epochs [line...]
	{
		printf '[flows]\nkind = %s\nkey = flow4\n' "$1"
		[ "$1" = keyinc ] || [ "$1" = postcard ] || echo value = 20
		if [ "$1" = postcard ]; then echo "chunks = $2"; else echo "slots = $2"; fi
		printf '%s\n' "${@:4}"
	} >l.ini
	dta-collect --create --layout l.ini --region "$NAME" --epochs "$3"
}

fill() { # workload flows
	dta-gen "$1" --flows "$2" -q --truth truth.csv -w r.pcap
	dta-translate -q -r r.pcap -R "$NAME"
	sed 1d truth.csv | cut -d, -f3 | sort -u >keys
}

why() { run --separate-stderr dta-query why -R "$NAME" -o csv "$@"; }
likely() { [[ ${stderr_lines[-1]} == *": most likely: $1"* ]]; }

@test "a key that is there: its slots and value; COPIES are the table's" {
	make keywrite 1Mi 1
	fill int-path 50
	key=$(head -n 1 keys)
	why --as u32s "$key"
	[ "$status" = 0 ]
	[ "${lines[0]}" = key,copy,unit,holds,checksum,value,epoch,source,table ]
	[ "${#lines[@]}" = 3 ]
	value=$(dta-query keywrite -R "$NAME" --as u32s "$key" -o ndjson |
		jq -r '.value | map(tostring) | join(",")')
	[[ ${lines[1]} == "$key,0,"*",this_key,"*",\"$value\",1,region,flows" ]]
	[[ ${lines[2]} == "$key,1,"*",this_key,"*"\"$value\""* ]]
	[ "$stderr" = "dta-query: $key: found in epoch 1" ]
	dta-query keywrite -R "$NAME" "$key" -o ndjson | jq -e '.copies == 2'
}

@test "never reported, the other direction, an empty table, an epoch that is gone" {
	make keywrite 1Mi 2
	key='10.9.9.9:1>10.9.9.8:2/tcp'
	why "$key"
	[ "$status" = 3 ]
	[[ ${lines[1]} == *,nothing,,,1,region,flows ]]
	likely "nothing was ever stored in this table"
	fill int-path 50
	why "$key"
	likely "it was never reported, or its reports were lost"
	[[ $stderr == *"epoch 1: 0.00"*"% of its slots are in use"* ]]
	there=$(head -n 1 keys)
	back=$(sed -E 's#(.*)>(.*)/#\2>\1/#' <<<"$there")
	why "$back"
	[[ $stderr == *"the other direction is there, in epoch 1: $there"* ]]
	likely "only the other direction was reported"
	dta-collect -R "$NAME" --rotate
	why "$there"
	[[ $status == 0 && $stderr == *"found in epoch 1"* ]]
	# The newest epoch is empty, the one before is not.
	why "$key"
	likely "it was never reported, or its reports were lost"
	dta-collect -R "$NAME" --rotate
	why "$there"
	[ "$status" = 3 ]
	[[ $stderr == *"epoch 1 is gone, and what was in it"* ]]
	likely "it was reported in an epoch that is gone, or never"
}

@test "overwritten, or never reported: the odds" {
	make keywrite 1Ki 1
	fill int-path 2000
	dta-query keywrite -R "$NAME" --keys keys -o csv |
		sed -n 's/,not_found,.*//p' | head -n 1 >lost
	lost=$(<lost)
	why "$lost"
	[ "$status" = 3 ]
	[[ ${lines[1]} == *,another_key,* && ${lines[2]} == *,another_key,* ]]
	[[ ${stderr_lines[-1]} == *"/tcp: whether it was overwritten or never reported cannot be told: "* ||
		${stderr_lines[-1]} == *"/udp: whether it was overwritten or never reported cannot be told: "* ]]
	[[ ${stderr_lines[-1]} =~ "told: "[0-9.]+"% of the keys that were stored are overwritten by now, and "[0-9.]+"% of those that never were look the same; make the table larger (dta-plan); a --key-log of dta-translate has what was reported" ]]
}

@test "a full table: bounds are said to be bounds" {
	make keywrite 1Ki 1
	fill int-path 20000
	dta-query keywrite -R "$NAME" --keys keys -o csv |
		sed -n 's/,not_found,.*//p' | head -n 1 >lost
	why "$(<lost)"
	[ "$status" = 3 ]
	[[ $stderr =~ "100% of its slots are in use (load above 2.43); the oldest key is still found with less than "[0-9.]+"%, any with less than "[0-9.]+% ]]
	[[ ${stderr_lines[-1]} == *": whether it was overwritten or never reported cannot be told: at least 69.4% of"* ]]
}

@test "why of paths and counters" {
	make postcard 64Ki 1 "values = 1-262144"
	fill int-postcard 50
	key=$(head -n 1 keys)
	why "$key"
	path=$(dta-query path -R "$NAME" "$key" -o ndjson |
		jq -r '.path | map(tostring) | join(",")')
	[[ ${lines[1]} == "$key,0,"*",this_key,,\"$path\",1,region,flows" ]]
	why '10.9.9.9:1>10.9.9.8:2/tcp'
	likely "it was never reported"
	dta-collect --remove -R "$NAME"
	make keyinc 64Ki 1
	fill turboflow 50
	key=$(head -n 1 keys)
	why "$key"
	count=$(dta-query count -R "$NAME" "$key" -o ndjson | jq .count)
	[[ ${lines[1]} == "$key,0,"*",this_key,,$count,1,region,flows" ]]
}

@test "why of lists: it says that these have no keys" {
	printf '[losses]\nkind = append\nvalue = 4\nentries = 64\nlists = 3\n' >l.ini
	dta-collect --create --layout l.ini --region "$NAME"
	for table in "" "-t losses"; do
		# shellcheck disable=SC2086
		why $table 1
		[ "$status" = 2 ]
		[[ -z $output && $stderr == *"table losses has lists, and no keys"* ]]
		[[ $stderr == *"dta-dump region --lists"* ]]
	done
}

@test "the way: who writes this region, under its names, and what is lost where" {
	make keywrite 1Ki 1
	for region in "$NAME" "$HOSTNAME:$NAME" "/dev/shm/$NAME"; do
		fake dta-translate "$region" translate:received:in:1 \
			translate:bad_table:loss:1 arrival:missing:loss:1
		wait_for sees counters 'any(.counter == "missing" and .value > 0)'
		why '10.9.9.9:1>10.9.9.8:2/tcp'
		[[ $stderr =~ "dta-translate ${BG_PIDS[-1]}, from in, to out: received "[0-9] ]]
		[[ $stderr =~ [0-9]" things were lost between the reporters and in: missing" ]]
		[[ $stderr =~ [0-9]" things were lost in dta-translate ${BG_PIDS[-1]}: bad_table" ]]
		end_bg
		rm -f pages/*
	done
	for region in "x$NAME" "x$HOSTNAME:$NAME"; do
		fake dta-translate "$region" translate:received:in:1 \
			arrival:missing:loss:1
		wait_for sees counters 'any(.counter == "missing" and .value > 0)'
		why '10.9.9.9:1>10.9.9.8:2/tcp'
		[[ $stderr != *"dta-translate ${BG_PIDS[-1]}"* ]]
		end_bg
		rm -f pages/*
	done
	# What the kernel dropped is missing, and lost in one place.
	fake dta-translate "$NAME" translate:received:in:1 \
		arrival:missing:loss:10 interface:kernel_drops:loss:1 requester:uc:done:1
	wait_for sees counters 'any(.counter == "missing" and .value > 0)'
	why '10.9.9.9:1>10.9.9.8:2/tcp'
	[[ $stderr == *" in dta-translate ${BG_PIDS[-1]}: kernel_drops"* &&
		$stderr != *between* ]]
	why -q '10.9.9.9:1>10.9.9.8:2/tcp'
	[ -z "$stderr" ]
	# What a requester that is answered sends again is not lost.
	fake dta-collect "$NAME" responder:bad_icrc:loss:1
	fake dta-gen "" send:lost:loss:1
	wait_for sees counters 'any(.counter == "lost" and .value > 0)'
	why '10.9.9.9:1>10.9.9.8:2/tcp'
	[[ $stderr == *" in dta-collect ${BG_PIDS[-2]}: bad_icrc"* &&
		$stderr == *" in dta-gen ${BG_PIDS[-1]}: lost"* ]]
	# nor twice, what reporters and translators give up
	fake dta-translate "" requester:acked:done:1 arrival:lost_reports:loss:1
	wait_for sees counters 'any(.counter == "acked" and .value > 0)'
	why '10.9.9.9:1>10.9.9.8:2/tcp'
	[[ $stderr == *": lost_reports"* && $stderr != *bad_icrc* &&
		$stderr != *": lost"[^_]* ]]
	for host in 'a;b' -oProxyCommand=x ''; do
		run -2 --separate-stderr dta-query why -R "$NAME" --ssh "$host" 1
		[[ $stderr == *"--ssh: '$host' is no plain name"* ]]
	done
}

@test "the way: an ssh that a signal ends; a signal ends all" {
	local pid

	make keywrite 1Ki 1
	PATH=$PWD:$PATH
	printf '#!/bin/sh\nkill -KILL $$\n' >ssh
	chmod +x ssh
	why --ssh a '10.9.9.9:1>10.9.9.8:2/tcp'
	[[ $stderr == *"a: its counters cannot be read: exit status 137"* ]]
	printf '#!/bin/sh\necho "$*" >>asked\nsleep 2\n' >ssh
	dta-query why -R "$NAME" --ssh a --ssh b --ssh c \
		'10.9.9.9:1>10.9.9.8:2/tcp' >/dev/null 2>err 3>&- &
	pid=$!
	wait_for test -s asked
	kill "$pid"
	wait "$pid" || :
	[ "$(grep -c . asked)" = 1 ]
	run -1 grep -e 'a: ' -e 'b: ' -e 'c: ' err
}
