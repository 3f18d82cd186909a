# SPDX-License-Identifier: BSD-2-Clause
# Rows on a terminal: they fit it, and say what is wrong; and on a pipe they are
# as ever.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-te-$BATS_TEST_NUMBER
	export TERM=xterm TZ=UTC
	unset NO_COLOR
}

teardown() { remove_regions "$NAME"; }

on_terminal() { "$BATS_TEST_DIRNAME/../tools/terminal.py" "$@"; } # COLUMNS COMMAND

# Every line has so many columns at most; colours have none.
fits() { # COLUMNS FILE
	sed -e "/^no room for/d" -e "s/\x1b\[[0-9;]*m//g" "$2" | awk -v n="$1" 'length($0) > n { bad = 1; print }
		END { exit bad }'
}

prepare() {
	printf '[flows]\nkind = keywrite\nkey = flow6\nvalue = 20\nslots = 64Ki\n' >l.ini
	dta-collect --create --layout l.ini --region "$NAME"
	dta-gen int-path --flows 40 --ipv6 100 --table 0 -q --truth t.csv -w r.pcap
	dta-translate -q -r r.pcap -R "$NAME"
	sed 1d t.csv | cut -d, -f3 >keys
	echo '[2001:db8::1]:1>[2001:db8::2]:2/udp' >>keys
}

@test "columns are as wide as what is in them; what has no room is named" {
	prepare
	on_terminal 200 dta-query keywrite -R "$NAME" --keys keys --as u32s >wide
	fits 200 wide
	grep -q '^KEY .*ANSWER .*VALUE .*TABLE$' wide
	[ "$(wc -l <wide)" = 42 ]
	for n in 130 100 80 40; do
		on_terminal $n dta-query keywrite -R "$NAME" --keys keys \
			--as u32s >shown
		fits $n shown
	done
	on_terminal 70 dta-query keywrite -R "$NAME" --keys keys --as u32s >shown
	grep -q '^no room for: .*source' shown
	# IPv6 keys are whole.
	[ "$(grep -cFf keys shown)" = 41 ]
	# Longer ones are cut in their middle, and answers are whole.
	key='[2001:db8:aaaa:bbbb:cccc:dddd:eeee:1]:44321>[2001:db8:aaaa:bbbb:cccc:dddd:eeee:2]:443/tcp'
	awk -F, -v OFS=, -v key="$key" 'NR == 2 { $3 = key } NR < 3' t.csv >long.csv
	dta-gen csv --from long.csv --layout l.ini -q -w long.pcap
	dta-translate -q -r long.pcap -R "$NAME"
	on_terminal 80 dta-query keywrite -R "$NAME" "$key" "$(head -n 1 keys)" \
		"$(tail -n 1 keys)" --as u32s >shown
	fits 80 shown
	value=$(dta-query keywrite -R "$NAME" "$key" --as u32s -o ndjson |
		jq -r '.value | map(tostring) | join(",")')
	grep -qE "^\[2001:db8:[0-9a-f:]*\.\.\.[0-9a-f:]+\]:443/tcp  found +$value( |$)" shown
	# What a plan is for stays; probabilities that are next to nothing go.
	on_terminal 80 dta-plan keywrite --flows 10M --want 0.99 >shown
	fits 80 shown
	grep -q '^PRIMITIVE  COPIES .* SLOTS  MEMORY_BYTES' shown
	grep -q '^no room for: .*wrong' shown
	# No terminal: as ever, and in CSV in any case.
	dta-query keywrite -R "$NAME" --keys keys >piped
	grep -q '^KEY .*COPIES  EPOCH  SOURCE    TABLE$' piped
	on_terminal 40 dta-query keywrite -R "$NAME" --keys keys -o csv |
		cmp - <(dta-query keywrite -R "$NAME" --keys keys -o csv)
}

@test "int-collect: rows and tables fit, too; on a pipe they are whole" {
	dta-gen int -q --rate 100 -c 500 -w in.pcap
	for n in 200 100 80; do
		for what in "-R event" "-R flow" "-R hop" "-R distribution,bin" \
			"--top nodes --once" "--top flows --once" "--top queues --once"; do
			# shellcheck disable=SC2086 # words
			on_terminal $n int-collect -q -r in.pcap $what >shown
			echo "$n $what"
			[ "$(wc -l <shown)" -gt 5 ]
			fits $n shown
		done
	done
	# where a flow is too long its ends are there, and the words are whole
	on_terminal 112 int-collect -q -r in.pcap -R event >shown
	grep -q '^no room for: .*path' shown
	grep -qE ' new_key +hop_latency +[0-9]+ .* [0-9.]+\.\.\.[0-9:]+/(tcp|udp) ' shown
	on_terminal 80 int-collect -q -r in.pcap --top nodes --once >shown
	grep -q '^NODE  SAMPLES  HOP_LATENCY_P50 ns  HOP_LATENCY_P99 ns' shown
	int-collect -q -r in.pcap -R event | grep -q '^TIME .*THRESHOLD  PATH  *OLD_PATH  *INGRESS_PORT$'
	on_terminal 80 int-collect -q -r in.pcap -o csv |
		cmp - <(int-collect -q -r in.pcap -o csv)
}

# Each column begins, or if it is of numbers ends, where its head does.
aligned() { # FILE COLUMN...: in head and rows
	local file=$1 name at
	shift
	for name; do
		at=$(head -n 1 "$file" | grep -bo "\b$name\b" | cut -d: -f1)
		awk -v at="$at" 'substr($0, at, 1) != " " || substr($0, at + 1, 1) == " " {
			bad = 1; print } END { exit bad }' "$file"
	done
}

@test "through a pipe: columns are below their heads" {
	prepare
	key=$(head -n 1 keys)
	dta-query keywrite -R "$NAME" --keys keys >piped
	aligned piped ANSWER VALUE SOURCE
	dta-query keywrite -R "$NAME" "$key" >piped
	aligned piped ANSWER VALUE SOURCE
	dta-query why -R "$NAME" "$key" >piped 2>&1
	sed -i '/^dta-query: /{$!q1;d}' piped # behind the table
	aligned piped HOLDS SOURCE
}

@test "what is wrong is red, unless NO_COLOR is set; flags are *, bytes MiB" {
	prepare
	red=$'\x1b[31m'
	on_terminal 200 dta-query keywrite -R "$NAME" --keys keys >shown
	[ "$(grep -cF "$red" shown)" = 1 ]
	grep -qF "${red}not_found" shown
	on_terminal 200 env NO_COLOR=1 dta-query keywrite -R "$NAME" \
		--keys keys >shown
	run ! grep -qF "$red" shown
	on_terminal 200 env TERM=dumb dta-query keywrite -R "$NAME" \
		--keys keys >shown
	run ! grep -qF "$red" shown
	# a loss is; what is none of its business is not
	dta-gen uniform --table 99 --count 9 -q -w lost.pcap
	on_terminal 80 dta-translate -r lost.pcap -R "$NAME" >shown || [ $? = 1 ]
	grep -qF "$red  bad_table" shown
	on_terminal 80 dta-translate -r "$CAPTURE" -R "$NAME" >shown || [ $? = 1 ]
	grep -qF "  foreign" shown
	run ! grep -qF "$red  foreign" shown
	on_terminal 200 dta-plan keywrite --want 0.99 --flows 1M >shown
	[ "$(grep -c ' \* ' shown)" = 1 ]
	grep -q ' \* .* 80MiB ' shown
	on_terminal 120 dta-dump region "$NAME" >shown
	grep -qE ' [0-9.]+MiB ' shown
}

@test "what was found before it fails is shown" {
	prepare
	{ head -n 3 keys; printf '%09000d\n' 7; } >broken
	run -1 on_terminal 200 dta-query keywrite -R "$NAME" --keys broken
	[[ $output == *"a line longer than"* && $output == *"$(head -n 1 keys)"* ]]
}

# Two devices fall silent, and are heard again, beside a flow that is followed.
labels() {
	dta-gen uniform -q -c 400 --rate 4000 --seed 1 -w plain.pcap
	int-label-ctl flow add "$(dta-dump packets plain.pcap -c 1 -o ndjson |
		jq -r '"\(.src)>\(.dst)/udp"')" | sed "s/10000$/3000/" >lines
	int-label-ctl label -q -d 1 --edge in -r plain.pcap -w one.pcap \
		-t 7ms --control lines
	int-label-ctl label -q -d 2 -r one.pcap -w labels.pcap -t 7ms
}

@test "rows that come one by one, of several kinds: they fit it, too" {
	labels
	for n in 200 100 80; do
		on_terminal $n int-label-ctl -q -r labels.pcap -R all -t 1ms \
			>shown
		fits $n shown
		# Heads come where the kind changes, or a column grows.
		for kind in 'TIME .*PORTS.*COVERAGE' 'TIME .*S_BEFORE.*REASON' \
			'TIME .*EVENT' 'TIME .*LATENCY.*QUEUE' 'TIME .*FLOW.*HOP'; do
			grep -q "^$kind" shown || [ $n != 200 ]
		done
		for kind in interval decision silence port hop; do
			on_terminal $n int-label-ctl -q -r labels.pcap -R $kind \
				-t 1ms >shown
			fits $n shown
			[ "$(grep -vc '^TIME\|^no room' shown)" = "$(int-label-ctl \
				-q -r labels.pcap -R $kind -t 1ms -o ndjson |
				wc -l)" ]
			[ "$(grep -c '^TIME' shown)" -le 3 ]
		done
	done
	# What matters most has room.
	on_terminal 80 int-label-ctl -q -r labels.pcap -R interval >shown
	grep -q '^TIME .*COVERAGE  *PACKETS  *LABELS  *MISSING  *SILENT$' shown
	run ! grep -qF ... shown
	# No terminal: as ever; nor in CSV.
	int-label-ctl -q -r labels.pcap -R interval | grep -q 'OBSERVED  SKIPPED$'
	on_terminal 80 int-label-ctl -q -r labels.pcap -R port -o csv |
		cmp - <(int-label-ctl -q -r labels.pcap -R port -o csv)
	for table in ports silent links paths; do
		on_terminal 80 int-label-ctl -q -r labels.pcap --top $table \
			--once >shown
		fits 80 shown
	done
}

@test "how far a program is, until it tells its ledger; with -q nothing" {
	prepare
	progress=$'\rdta-translate: 40 reports\e\[K'
	until_seen() { cat r.pcap && wait_for grep -q "$progress" seen; }
	slowly() { cat r.pcap && sleep 1; }
	touch seen
	until_seen | on_terminal 80 dta-translate -r - -R "$NAME" >seen
	grep -q "$progress" seen
	grep -q $'\e\[Kdta-translate: translate, reports' seen
	slowly | on_terminal 80 dta-translate -q -r - -R "$NAME" >seen
	[ ! -s seen ]
}
