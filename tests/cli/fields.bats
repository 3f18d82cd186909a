# SPDX-License-Identifier: BSD-2-Clause
# Field names are a public interface: they change only with a major version.
# tests/golden/fields.txt has those of every program and mode, and the counters
# of every ledger. To add to it, look at the difference, then copy it in.

load ../helpers

setup() {
	NAME=dta-test-$$-fields
	cd "$BATS_TEST_TMPDIR" || exit 1
}

teardown() {
	for w in int-path int-postcard netseer-loss marple-hosts-sum; do
		dta-collect --remove --region "$NAME-$w" 2>/dev/null || :
	done
}

# The header of a command's CSV, the region's name left out.
header() {
	printf '%s\n' "# $*" | sed "s/$NAME-//g"
	"$@" -o csv 2>/dev/null | sed -n 1p
}

# The counters of a command's ledger.
counters() {
	printf '%s\n' "# ledger of $1"
	"$@" -o ndjson 2>&1 >/dev/null | grep "^{" |
		jq -r '[.stage, .role, .counter] | join(" ")'
}

@test "field names of every program and mode are those of the golden file" {
	for w in int-path int-postcard netseer-loss marple-hosts-sum; do
		dta-collect --create --layout "$EXAMPLES/$w.ini" --region "$NAME-$w"
		dta-gen "$w" --count 300 -q --truth $w.csv -w $w.pcap
		dta-translate -q -r $w.pcap --region "$NAME-$w"
	done
	dta-collect --region "$NAME-int-path" --snapshot s.dta --ticket t.ini
	dta-translate -q -r int-path.pcap --ticket t.ini -w roce.pcap
	local path=$NAME-int-path flow='10.0.0.1:1>10.0.0.2:2/tcp'
	{
		header dta-gen --list
		header dta-query keywrite --region "$path" "$flow"
		header dta-query keywrite --summary --region "$path" "$flow"
		header dta-query path --region "$NAME-int-postcard" "$flow"
		header dta-query list --as hex --region "$NAME-netseer-loss"
		header dta-query list --region "$NAME-netseer-loss"
		header dta-query count --region "$NAME-marple-hosts-sum" 10.0.0.1
		header dta-query why --region "$path" "$flow"
		header dta-query verify --region "$path" --truth int-path.csv
		header dta-query verify --by-age 1 --region "$path" --truth int-path.csv
		header dta-dump packets int-path.pcap
		header dta-dump regions --no-load
		header dta-dump region "$path"
		header dta-dump region --slots "$path"
		header dta-dump snapshot s.dta
		header dta-dump digest "$path"
		for table in programs losses counters regions; do
			header dta-top --once -t $table --every 1ms
		done
		header dta-collect --notify -q --region "$path" -r roce.pcap
		header dta-plan keywrite --load 0.1
		header dta-plan postcard --load 0.1
		header dta-plan cores
		header dta-plan fleet --arity 4 --rate 1 --flows 1
		counters dta-gen int-path --count 10 --tracked --nacks int-path.pcap -w x.pcap
		counters dta-translate -r int-path.pcap --ticket t.ini -w /dev/null --answers roce.pcap
		counters dta-translate -r int-path.pcap --ticket t.ini --dart \
			-w x.pcap | grep -v "^translate"
		counters dta-collect --region "$path" -r roce.pcap --notify
		dta-gen int -q --flows 20 -w int.pcap
		dta-gen int -q --flows 20 -F report -w treport.pcap
		for kind in event value flow hop distribution bin; do
			header int-collect -q -r int.pcap -R $kind --push 10ms
		done
		header int-collect -p help
		header int-collect -f help
		echo "# truth of dta-gen int"
		dta-gen int -q --flows 1 -w x.pcap --truth - | sed -n 1p
		counters dta-gen int --flows 20 -w x.pcap
		counters int-collect -r treport.pcap -R none -f tcp -x file:rows --dta d.pcap
		int-label-ctl label -q -d 1 -r int.pcap -w label.pcap
		for kind in interval port decision silence; do
			header int-label-ctl -q -r label.pcap -R $kind -t 1us
		done
		counters int-label-ctl -r label.pcap -R none --exec true -x file:l.rows
		counters int-label-ctl label -d 1 -r int.pcap
		header int-label-ctl sim -q -d 100ms
		header int-label-ctl sim --trace 1
		header int-label-ctl theory labels
		header int-label-ctl theory coverage
		counters int-label-ctl sim -d 100ms
	} >fields.txt
	diff "$BATS_TEST_DIRNAME/../golden/fields.txt" fields.txt
}
