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
	printf '[flows]\nkind = keywrite\nkey = flow6\nvalue = 20\nslots = 64K\n' >l.ini
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
	grep -qx 'all rows: copies 2, table flows' shown
	grep -q '^no room for: .*source' shown
	# IPv6 keys are whole.
	[ "$(grep -cFf keys shown)" = 41 ]
	# No terminal: as ever, and in CSV in any case.
	dta-query keywrite -R "$NAME" --keys keys >piped
	grep -q '^KEY .*COPIES  EPOCH  SOURCE    TABLE$' piped
	on_terminal 40 dta-query keywrite -R "$NAME" --keys keys -o csv |
		cmp - <(dta-query keywrite -R "$NAME" --keys keys -o csv)
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
	on_terminal 80 dta-translate -r "$CAPTURE" -R "$NAME" >shown || [ $? = 1 ]
	grep -qF "$red  foreign" shown
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
