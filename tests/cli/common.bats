# SPDX-License-Identifier: BSD-2-Clause
# What every program does alike. A program that is added is tested by being
# there.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	mapfile -t PROGRAMS < <(programs)
	[ ${#PROGRAMS[@]} -gt 0 ]
}

teardown() { end_bg; }

# Printed if the check that follows fails: which program it was.
blame() {
	echo "program: $1, status: $status, stdout: $output, stderr: $stderr"
}

@test "-h and --help: synopsis and options on stdout, exit 0" {
	for p in "${PROGRAMS[@]}"; do
		for option in -h --help; do
			run -0 --separate-stderr "$p" $option
			blame "$p"
			[[ ${lines[0]} == "usage: $p "* && -z $stderr ]]
			[[ $output == *"  -h, --help  "*"  -V, --version  "* ]]
		done
	done
}

@test "-h fits a screen; what it leaves out, --help-all tells" {
	for p in "${PROGRAMS[@]}" "dta-gen int" "int-label-ctl sim" "int-label-ctl label"; do
		echo "program: $p"
		$p -h >help
		[ "$(wc -l <help)" -le 40 ]
		$p --help-all >all
		[ -z "$(diff help all | grep '^<')" ]
		cmp help all || grep -q -- '--help-all ' help
	done
	dta-translate --help-all | grep -q -- '--op-rate '
	run ! grep -q -- '--op-rate ' <(dta-translate -h)
}

@test "names of 1.0 still work, and say what they are now" {
	run -0 --separate-stderr dta-gen uniform -q -n 5 -w a.pcap
	[ "$stderr" = "dta-gen: -n will be gone, it is now --flows" ]
	dta-gen uniform -q --flows 5 -w b.pcap
	cmp a.pcap b.pcap
	run -0 --separate-stderr int-label-ctl sim -q -d 200ms --lose 8-1=50
	[ "$stderr" = "int-label-ctl sim: --lose will be gone, it is now --loss" ]
	run -0 int-label-ctl sim -q -d 200ms --lose=8-1=50
	run -2 --separate-stderr int-label-ctl label --device 1
	[[ $stderr == "int-label-ctl label: --device will be gone, it is now --node"* ]]
	int-label-ctl sim -q -d 200ms -w l.pcap
	run -0 --separate-stderr int-label-ctl -q -r l.pcap --devices 1
	[ "$stderr" = "int-label-ctl: --devices will be gone, it is now --nodes" ]
	run -0 --separate-stderr dta-gen int -q --hops 3 --switches 3 -c 1 -w b.pcap
	[ "$stderr" = "dta-gen int: --switches will be gone, it is now --nodes" ]
	run -2 --separate-stderr dta-gen uniform -N
	[ "${stderr_lines[1]}" = "dta-gen: --copies: argument missing" ]
}

# Two CSV files have the same rows, the second one in the other style.
same_rows() { # want got
	python3 - "$1" "$2" <<-'END'
		import csv, datetime, sys
		want, got = (list(csv.DictReader(open(f))) for f in sys.argv[1:])
		assert len(want) == len(got) > 0
		for w, g in zip(want, got):
		    for k in ('flow', 'key'):
		        if k in w and w[k]:
		            e = [f'[{a}]' if ':' in a else a for a in (g['src'], g['dst'])]
		            assert w.pop(k) == '%s:%s>%s:%s/%s' % (
		                e[0], g['sport'], e[1], g['dport'], g['proto'])
		    for k, v in w.items():
		        if v != g.get(k, ''):
		            s, ns = v.split('.')
		            t = datetime.datetime.fromtimestamp(int(s), datetime.timezone.utc)
		            assert g[k] == t.strftime('%Y-%m-%dT%H:%M:%S.') + ns + 'Z', (k, v, g[k])
	END
}

@test "--time iso, --split-flow: the same rows" {
	dta-gen int -q --flows 9 --ipv6 40 -c 60 -w int.pcap
	for kind in event flow hop; do
		rm -f int_*.csv
		int-collect -q -r int.pcap -R $kind -o csv >want
		int-collect -q -r int.pcap -R $kind -o csv --time iso --split-flow \
			-x 'file:%m.csv?format=csv' >got
		same_rows want got
		run ! cmp -s want got
		cmp want int_$kind.csv
	done
	int-collect -q -r int.pcap --top flows -o csv >want
	int-collect -q -r int.pcap --top flows -o csv --time iso --split-flow >got
	same_rows want got
	int-collect -q -r int.pcap -R flow -o ndjson --time iso --split-flow |
		jq -e '(.time | fromdateiso8601?) // (.time | test("^2023-11-14T.*Z$"))
			and (.sport | type) == "number" and has("flow") == false' >jq
	dta-dump packets int.pcap -o csv >want
	dta-dump packets int.pcap -o csv --time iso >got
	head -1 want | diff - <(head -1 got)
	grep -q '^1,2023-11-14T22:13:20.[0-9]\{9\}Z,' got
	[[ $(dta-dump packets int.pcap -c 1 --time iso) == "1 2023-11-14T"*"Z "* ]]
	run -2 --separate-stderr dta-dump packets int.pcap --time local
	[ "$stderr" = "dta-dump: --time: 'local' is not unix or iso" ]
}

@test "--split-flow of keys, on one core and on two" {
	NAME=dta-test-$$-split
	dta-collect --create --layout "$EXAMPLES/int-path.ini" --region "$NAME" -q
	dta-gen int-path -q --flows 200 --ipv6 30 --truth t.csv -w - |
		dta-translate -q -r - --region "$NAME"
	for cores in 1 2; do
		dta-query keywrite -q --region "$NAME" --keys t.csv -o csv >want
		dta-query keywrite -q --region "$NAME" --keys t.csv -o csv \
			--split-flow -j $cores >got
		same_rows want got
	done
	dta-collect --remove --region "$NAME" -q
}

@test "--help-all stays within 80 columns, and starts options in one column" {
	for p in "${PROGRAMS[@]}"; do
		"$p" --help-all >help
		echo "program: $p"
		run -1 grep -E '.{81}' help
		# Each option is written once, letters and names.
		[ -z "$(grep -oE '^  (-., |    )--[a-z0-9-]+' help |
			grep -oE -- '--[a-z0-9-]+' | sort | uniq -d)" ]
		[ -z "$(grep -oE '^  -.,' help | sort | uniq -d)" ]
	done
}

@test "-V and --version: name, version, what is built in on stdout, exit 0" {
	version=$(sed -n 's/^VERSION := //p' "$TOP/Makefile")
	for p in "${PROGRAMS[@]}"; do
		for option in -V --version; do
			run -0 --separate-stderr "$p" $option
			blame "$p"
			[[ ${lines[0]} == "$p $version" && -z $stderr ]]
			[[ ${#lines[@]} == 2 && ${lines[1]} == with\ * ]]
		done
	done
	# The libraries that are loaded are those of the parts that are there.
	for part in verbs:ibverbs xdp:xdp http:curl prometheus:microhttpd redis:hiredis \
		kafka:rdkafka; do
		has=without
		ldd "$BUILD"/{dta-collect,int-collect} | grep -q "lib${part#*:}\.so" && has=with
		[[ "${lines[1]}" =~ (^|, )$has[^,]*\ ${part%%:*}( |,|$) ]]
	done
}

@test "unknown option: message and where to look on stderr, exit 2, nothing on stdout" {
	for p in "${PROGRAMS[@]}"; do
		for option in --no-such-option --no-such=1 -%; do
			run -2 --separate-stderr "$p" "$option"
			blame "$p"
			[[ -z $output ]]
			[[ ${stderr_lines[0]} == \
				"$p: unknown option ${option%=1}" ]]
			# and where to look: not all of it once more
			[[ ${stderr_lines[1]} == "try '$p -h'" ]]
			[ ${#stderr_lines[@]} = 2 ]
		done
	done
}

@test "an option without its argument: named on stderr, exit 2" {
	for p in "${PROGRAMS[@]}"; do
		# The options whose help shows an argument after the name.
		names=$("$p" --help-all |
			sed -nE 's/^  (-., |    )(--[a-z0-9-]+) [^ ].*/\2/p')
		[ -n "$names" ]
		for option in $names; do
			run -2 --separate-stderr "$p" "$option"
			blame "$p"
			[[ -z $output ]]
			[[ ${stderr_lines[0]} == \
				"$p: $option: argument missing" ]]
		done
	done
}

# Numbers of things and of bytes take K, M, G, T wherever they are asked for;
# those that are names, or a few at most, do not.
@test "suffixes of numbers: everywhere the same" {
	sizes=0
	for p in "${PROGRAMS[@]}"; do
		names=$("$p" --help-all |
			sed -nE 's/^  (-., |    )(--[a-z0-9-]+) [^ ].*/\2/p')
		for option in $names; do
			# what takes anything is not tried: it may be carried out
			run --separate-stderr "$p" "$option" 1Q --no-such-option
			blame "$p $option"
			case $stderr in
			*"is not a number from "*"powers of 1000; Ki, Mi...: of 1024)"*)
				sizes=$((sizes + 1)) ;;
			*"is not a whole number"*)
				[[ " --seed --epoch --epochs --copies --table \
					--dart --checksum-bits \
					--arity --hops --ipv6 --value --cm \
					--report-port --by-age --cores \
					" == \
					*[[:space:]]$option[[:space:]]* ]] ;;
			esac
		done
	done
	[ $sizes -ge 20 ]
}

@test "an argument for an option that takes none: exit 2" {
	for p in "${PROGRAMS[@]}"; do
		run -2 --separate-stderr "$p" --help=yes
		blame "$p"
		[[ -z $output && $stderr == *"takes no argument"* ]]
	done
}

@test "no arguments at all: a question, exit 2, nothing on stdout" {
	for p in "${PROGRAMS[@]}"; do
		run -2 --separate-stderr "$p" </dev/null
		blame "$p"
		[[ -z $output && $stderr == *"try '$p -h'"* ]]
	done
}

@test "full disk: exit 1 and a message" {
	for p in "${PROGRAMS[@]}"; do
		for option in -h -V; do
			run -1 --separate-stderr bash -c "$p $option >/dev/full"
			blame "$p"
			[[ $stderr == "$p: standard output: No space left on device" ]]
		done
	done
}

# names PATTERN COMMAND...: it fails with such a message, and no other.
names() {
	local told=$1

	shift
	run -1 --separate-stderr bash -c "$*"
	echo "$*: $stderr"
	# shellcheck disable=SC2053 # a pattern
	[[ $stderr == $told ]]
}

@test "the standard streams have their names, and each failure is told once" {
	local full="No space left on device" name=dta-test-$$-names

	dta-gen int -q -w int.pcap
	dta-gen uniform -q -w r.pcap
	int-label-ctl sim -q -d 3s -w labels.pcap >/dev/null
	dta-collect --create --layout "$EXAMPLES/uniform.ini" --region "$name"
	dta-collect --region "$name" --ticket t.ini
	for writer in "int-collect -q -r int.pcap" "int-collect -q -r int.pcap -j 2" \
		"int-collect -q -r int.pcap --top flows -o ndjson" \
		"int-collect -q -r int.pcap -R none -w -" \
		"int-collect -q -r int.pcap -R none --dta -" \
		"int-label-ctl -q -r labels.pcap -R port" \
		"int-label-ctl -q -r labels.pcap --top ports -o ndjson" \
		"dta-gen uniform -q -w -" "dta-gen uniform -q -w x.pcap --truth -" \
		"dta-gen uniform -q -c 100000 -w x.pcap --truth -" \
		"dta-collect --region $name --ticket -" \
		"dta-translate -q -r r.pcap --ticket t.ini -w -"; do
		names "${writer%% *}: standard output: $full" "$writer >/dev/full"
	done
	for out in "-c 20000 -w -" "-c 1 -w x.pcap --truth -" "-c 20000 -w x.pcap --truth -"; do
		names "dta-gen int: standard output: $full" \
			"dta-gen int -q $out >/dev/full"
	done
	names "int-collect: /dev/full: $full" \
		int-collect -q -r int.pcap -R none --dta /dev/full
	names "int-collect: /dev/full: $full" \
		int-collect -q -r int.pcap -R none -w /dev/full
	names "dta-gen: /dev/full: $full" \
		dta-gen uniform -q -c 100000 -w x.pcap --truth /dev/full
	names "dta-gen int: /dev/full: $full" \
		dta-gen int -q -c 20000 -w x.pcap --truth /dev/full
	for reader in "int-collect -q -r -" "int-label-ctl -q -r -" \
		"dta-dump packets -" "dta-collect -q --region $name -r -" \
		"dta-translate -q --region $name -r -" \
		"dta-translate -q -r r.pcap --ticket t.ini -w x.pcap --answers -" \
		"dta-gen int -q --from - -w out.pcap" \
		"dta-gen csv -q --from - -w out.pcap" \
		"dta-query verify --region $name --truth -"; do
		names "${reader%% *}*: standard input: empty: not *" "$reader </dev/null"
	done
	names "dta-collect: standard input:1: neither *" \
		"echo [ | dta-collect --create --layout - --region $name-none"
	names "dta-translate: standard input:1: not a line of a ticket" \
		"echo [ | dta-translate -r r.pcap --ticket - -w out.pcap"
	names "int-collect: --profile: standard input:1: *" \
		"echo [ | int-collect -r int.pcap -p -"
	remove_regions "$name"
}

tickets() { [ "$(grep -c '^rkey' t.ini)" = "$1" ]; }

@test "a ticket of new queue pairs that the standard output has no room for" {
	local name=dta-test-$$-room

	dta-collect --create --layout "$EXAMPLES/uniform.ini" --region "$name"
	dta-gen uniform -q -c 1 -w r.pcap
	mkfifo in
	exec 8<>in
	head -c 24 r.pcap >&8
	# Room for two of them, and not for a third.
	bg bash -c "trap '' XFSZ; ulimit -f 1
		exec dta-collect -q --region $name -r in --ticket - >t.ini 2> >(exec cat >told)"
	wait_for tickets 1
	kill -HUP "${BG_PIDS[0]}"
	wait_for tickets 2
	kill -HUP "${BG_PIDS[0]}"
	wait_for grep -qx "dta-collect: standard output: File too large" told
	end_bg
	exec 8>&-
	remove_regions "$name"
}

@test "closed stdout: exit 1 and a message" {
	for p in "${PROGRAMS[@]}"; do
		run -1 --separate-stderr bash -c "$p -h >&-"
		blame "$p"
		[[ $stderr == "$p: standard output: Bad file descriptor" ]]
	done
}

@test "closed pipe: ends at once, without a word" {
	for p in "${PROGRAMS[@]}"; do
		# The reader is gone before the program starts; SIGPIPE is
		# ignored by the parent, as some parents do.
		run -141 --separate-stderr bash -c "trap '' PIPE
			exec 3> >(:); wait \$!; $p -h >&3"
		blame "$p"
		[[ -z $output && -z $stderr ]]
	done
}

@test "a wrong output format: exit 2" {
	for p in "${PROGRAMS[@]}"; do
		"$p" -h | grep -q -- '--output ' || continue
		run -2 --separate-stderr "$p" --output xml
		blame "$p"
		[[ -z $output && $stderr == *"'xml' is not text, csv"*ndjson* ]]
	done
}

@test "options may follow operands, also where POSIXLY_CORRECT is set" {
	POSIXLY_CORRECT=1 run -0 dta-plan keywrite --load 0.1
}
