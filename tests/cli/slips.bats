# SPDX-License-Identifier: BSD-2-Clause
# What people mistype, and what a message then says; names for what is said
# often.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-sl-$BATS_TEST_NUMBER
	unset DTA_REGION
}

teardown() { remove_regions "$NAME"; }

# refused TEXT COMMAND...: exit 2, nothing on stdout, a message that says so.
refused() {
	local text=$1

	shift
	run -2 --separate-stderr "$@"
	echo "$*: $stderr"
	[ -z "$output" ]
	[[ $stderr == *"$text"* ]]
}

make_region() { # workload, options
	dta-collect --create --layout "$EXAMPLES/$1.ini" --region "$NAME" "${@:2}"
}

@test "options: beginnings, slips, and names that are given twice" {
	refused "unknown option --f" dta-gen int-path --f 1
	refused "unknown option --re; did you mean --re" dta-translate --re=x
	# One that is the beginning of one option only is no option, either.
	refused "unknown option --creat; did you mean --create?" \
		dta-collect --creat --layout "$EXAMPLES/uniform.ini" -R "$NAME"
	[ ! -e "/dev/shm/$NAME" ]
	refused "unknown option --reg; did you mean --region?" \
		dta-query keywrite --reg=x 1
	refused "unknown option --quie; did you mean --quiet?" \
		dta-gen uniform -w - --quie
	dta-gen uniform -c 1 -q -w --quie
	[ -s ./--quie ]
	refused "unknown option --regoin; did you mean --region?" \
		dta-query keywrite --regoin x
	refused "unknown option --sumary; did you mean --summary?" \
		dta-query keywrite --sumary
	refused "unknown option --unheard" dta-query keywrite --unheard
	[[ $stderr != *"did you mean"* ]]
	refused "--region is given twice: 'a' and 'b'" \
		dta-query keywrite -R a --region b k
	refused "--write is given twice" dta-gen uniform -w a -w b
	dta-gen uniform -q -c 10 -c 20 -w - | cmp - <(dta-gen uniform -q -c 20 -w -)
}

@test "commands and words: did you mean" {
	refused "'foo' is not keywrite" dta-query foo
	[[ $stderr != *region* ]]
	refused "did you mean keywrite?" dta-query keywrit
	refused "did you mean packets?" dta-dump packet x
	refused "did you mean dta0a?" dta-translate -r x -R y --format dta0s
	refused "'verfy' is not keywrite" dta-query verfy
	[[ $stderr == *"did you mean verify?"* ]]
	refused "int-paht: no such workload; did you mean int-path?" dta-gen int-paht
	refused "marple: no such workload; did you mean marple-hosts?" dta-gen marple
	refused "foo: no such workload; see --list" dta-gen foo
	printf '[t]\nkind = keyinc\nkey = u32\nslot = 9\n' >l.ini
	run -1 dta-collect --create --layout l.ini -R "$NAME"
	[[ $output == *"l.ini:4: slot: no such field; did you mean slots?" ]]
	run -1 dta-collect --create --layout <(sed s/slot/colour/ l.ini) -R "$NAME"
	[[ $output == *":4: colour: no such field" ]]
}

@test "dta-gen: options of other workloads are refused" {
	refused "--interleave is for int-postcard" dta-gen int-path --interleave 4 -w -
	refused "--kind is for uniform" dta-gen int-path --kind append -w -
	refused "--lists is for dshark and uniform" \
		dta-gen int-path --lists 1 -w -
}

@test "DTA_REGION is the region where no place is named" {
	make_region uniform
	export DTA_REGION=$NAME
	dta-gen uniform -q -c 100 --truth truth.csv -w r.pcap
	dta-translate -q -r r.pcap
	dta-query verify --truth truth.csv -o ndjson | jq -e '.right == 100'
	dta-dump region -o ndjson | jq -e '.used > 0'
	dta-dump digest | cmp - <(dta-dump digest "$NAME")
	dta-collect --snapshot s.dta
	# It stays out of the way of what is named.
	dta-query verify --truth truth.csv --snapshot s.dta -o ndjson |
		jq -e '.right == 100'
	run -1 dta-query keywrite --region "$NAME-none" 0x11
	[[ $output == *"$NAME-none"* ]]
	refused "which memory?" dta-collect --remove
	DTA_REGION='' refused "--region" dta-query keywrite 0x11
}

@test "dta-dump: a region by its name, or as everywhere else by -R" {
	make_region uniform
	for what in region digest; do
		dta-dump $what "$NAME" >named
		dta-dump $what -R "$NAME" >by_option
		[ -s named ]
		cmp named by_option
	done
	refused "'$NAME' and --region x: one at a time" dta-dump region "$NAME" -R x
	refused "snapshot of what?" dta-dump snapshot -R "$NAME"
}

@test "lists: those that there are" {
	printf '[a]\nkind = append\nvalue = 4\nentries = 64\nlists = 1\n' >l.ini
	printf '[b]\nkind = append\nvalue = 4\nentries = 64\nlists = 4\n' >>l.ini
	dta-collect --create --layout l.ini --region "$NAME"
	refused "list: '7' is not a list's number: table a has lists 0 to 0" \
		dta-query list -R "$NAME" -t a 7
	refused "table b has lists 0 to 3" dta-query list -R "$NAME" -t b 4
	refused "list: 'x' is not a list's number: table b has lists 0 to 3" \
		dta-query list -R "$NAME" x
}

@test "the shell: help of one command, slips, an epoch that there is not" {
	make_region uniform
	shell() { dta-query -i --region "$NAME" <<<"$1" 2>&1; }
	run -0 shell "help list"
	[[ $output == **"--follow"* ]]
	[[ $output != *"--truth"* && $output != *"keywrite KEY"* ]]
	run -0 shell help
	[[ $output == "keywrite KEY"*tables*quit* ]]
	run -2 shell "keywrit"
	[[ $output == *"did you mean keywrite?"* ]]
	run -1 shell "list -e 99"
	[[ $output == *"no epoch 99: "* ]]
	run -2 shell "list -e x"
	[[ $output == *"'x' is not N, N-M"* ]]
}

@test "a file that is not for us: whose it is" {
	[ "$(id -u)" = 0 ] || skip "root's work"
	make_region uniform --pages small
	chmod 0700 "/dev/shm/$NAME"
	run -1 setpriv --reuid 65534 --clear-groups \
		"$(command -v dta-dump)" region "$NAME"
	[[ $output == *"/dev/shm/$NAME: Permission denied: it belongs to root, with mode 0700"* ]]
}

@test "damaged blocks are told of also where copies make up for them" {
	printf '[t]\nkind = keywrite\nkey = u32\nvalue = 4\nslots = 256Ki\n' >l.ini
	dta-collect --create --layout l.ini --region "$NAME" --pages small
	dta-gen uniform --key-type u32 --copies 2 --count 20000 -q \
		--truth truth.csv -w r.pcap
	dta-translate -q -r r.pcap --region "$NAME"
	dta-collect --region "$NAME" --snapshot s.dta
	sed 1d truth.csv | cut -d, -f3 >keys
	run -0 --separate-stderr dta-query keywrite --snapshot s.dta --copies 2 \
		--keys keys --summary -o ndjson
	[ -z "$stderr" ]
	printf '\125\252\125' | dd of=s.dta bs=1 conv=notrunc status=none \
		seek=$(($(stat -c %s s.dta) / 2))
	run -0 --separate-stderr dta-query keywrite --snapshot s.dta --copies 2 \
		--keys keys --summary -o ndjson
	[[ $stderr =~ "damaged blocks: "([0-9]+)" keys were answered without" ]]
	[ "${BASH_REMATCH[1]}" -gt 0 ]
	run -0 --separate-stderr dta-query keywrite --snapshot s.dta --copies 2 \
		--keys keys --summary -q
	[ -z "$stderr" ]
}

@test "options that may be given again: one above the most is refused; sets of words" {
	local n many=()

	for n in {1..9}; do
		many+=(-x "file:$n-%m.csv")
	done
	run -2 int-collect -r none "${many[@]}"
	[[ $output == *"--export: 'file:9-%m.csv' is one above 8"* ]]
	run -2 int-collect -r none -e rise,nonsense
	[[ $output == *"'rise,nonsense' names 'nonsense', which is none of new_key, "*", drop, all, none"* ]]
	run -2 int-collect -r none -R all,event
	[[ $output == *"names 'all', which is none of event, value, "*", snapshot, all, none"* ]]
	run -1 int-collect -r none -R all "${many[@]:0:16}"
}
