# SPDX-License-Identifier: BSD-2-Clause
# Alerts and dashboards, asked of a Prometheus and an InfluxDB that hold what
# our programs have told.

load ../helpers
load ../databases

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	NAME=dta-test-$$-dashboards
	SHARE=$TOP/share
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

# queries FILE FIELD: what its panels ask, a line each.
queries() { jq -r ".panels[].targets[].$2" "$SHARE/grafana/$1"; }

# The counters of a role, with what they show from minute to minute.
series() { # role counter values
	cat <<-YML
		  - series: 'dta_ledger_total{instance="c:1",program="dta-collect",pid="7",region="r",stage="responder",counter="$2",role="$1"}'
		    values: '$3'
	YML
}

# an_alert NAME MINUTES LABELS: that one, by these labels besides its severity;
# without labels, not that one.
an_alert() {
	printf "  - eval_time: %dm\n    alertname: %s\n" "$2" "$1"
	[ -z "$3" ] || printf "    exp_alerts:\n    - exp_labels: {%s}\n" "$3"
}

@test "alerts: promtool raises each where it should be, and no other" {
	local who='instance: "c:1", program: dta-collect, region: r'

	need promtool
	promtool check rules "$SHARE/prometheus/dta.rules.yml"
	(cd "$SHARE/prometheus" && promtool check config dta.scrape.yml)
	# What alerts say is for people, and not looked at.
	sed -E '/annotations:/,/^$/{ /annotations:/d; /^$/!d; }' \
		"$SHARE/prometheus/dta.rules.yml" >rules.yml
	{
		echo "rule_files: [rules.yml]"
		echo "tests:"
		echo "- interval: 1m"
		echo "  input_series:"
		series loss bad_icrc '0x20 5x100'
		series loss old_epoch '0x40 9x100'
		series harmless foreign '0+1000x140'
		series in received '0+1000x140'
		cat <<-YML
			  - series: 'dta_region_fill_ratio{instance="c:1",region="r"}'
			    values: '0.5x60 0.95x80'
			  - series: 'dta_region_fill_ratio{instance="c:1",region="unused"}'
			    values: '1x140'
			  - series: 'dta_region_writers{instance="c:1",region="r"}'
			    values: '1x140'
			  - series: 'dta_region_writers{instance="c:1",region="unused"}'
			    values: '0x140'
			  - series: 'dta_program_silent_seconds{instance="c:1",program="dta-collect",pid="7",region="r",input="c0",user="dta"}'
			    values: '0x80 60+60x4 0x10 _x50'
			  - series: 'dta_program_start_time_seconds{instance="c:1",program="dta-collect",pid="7",region="r",input="c0",user="dta"}'
			    values: '1x96 _x50'
			  - series: 'dta_program_start_time_seconds{instance="c:1",program="int-collect",pid="8",region="",input="i0",user="dta"}'
			    values: '1x96 _x50'
			  - series: 'dta_program_start_time_seconds{instance="c:1",program="int-collect",pid="9",region="",input="i0",user="dta"}'
			    values: '_x97 2x50'
			  - series: 'up{job="dta",instance="c:1"}'
			    values: '1x120 0x20'
			  alert_rule_test:
		YML
		an_alert DtaLoss 19
		an_alert DtaLoss 23 "severity: warning, $who, stage: responder, counter: bad_icrc"
		an_alert DtaLoss 30
		an_alert DtaStaleTicket 30
		an_alert DtaStaleTicket 43 "severity: critical, $who"
		an_alert DtaRegionNearlyFull 55
		an_alert DtaRegionNearlyFull 75 'severity: warning, instance: "c:1", region: r'
		an_alert DtaStandsStill 75
		an_alert DtaStandsStill 84 "severity: critical, $who, pid: \"7\", input: c0, user: dta"
		an_alert DtaStandsStill 90
		an_alert DtaProgramEnded 90
		an_alert DtaProgramEnded 105 "severity: warning, $who, input: c0"
		an_alert DtaNotSeen 119
		an_alert DtaNotSeen 125 'severity: critical, instance: "c:1", job: dta'
	} >tests.yml
	run promtool test rules tests.yml
	echo "$output"
	[ "$status" = 0 ]
}

@test "each panel of dta.json has something to show of running programs" {
	need prometheus curl
	printf '[t]\nkind = keywrite\nkey = flow4\nvalue = 4\nslots = 1Ki\n' >l.ini
	dta-collect --create --layout l.ini --region "$NAME"
	dta-collect --region "$NAME" --ticket t.ini
	dta-gen uniform -q -c 1000 -w r.pcap
	dta-gen uniform -q -c 100 --table 77 -w lost.pcap
	mkfifo in acks
	PORT=$(free_port)
	bg dta-translate -q -r in --ticket t.ini -w frames.pcap --answers acks
	exec 8>in 9<>acks
	head -c 24 r.pcap >&9 # nobody answers
	cat r.pcap >&8
	bg dta-top --every 200ms --prometheus "127.0.0.1:$PORT"
	sed -E "s/localhost:9469/127.0.0.1:$PORT/; s/: 15s/: 1s/" \
		"$SHARE/prometheus/dta.scrape.yml" >prometheus.yml
	cp "$SHARE/prometheus/dta.rules.yml" .
	server=$(free_port)
	serve prometheus.log prometheus --config.file prometheus.yml \
		--storage.tsdb.path data --web.listen-address "127.0.0.1:$server"
	asked() { # expression
		curl -sf "http://127.0.0.1:$server/api/v1/query" \
			--data-urlencode "query=$1" >answer &&
			[ "$(jq '.data.result | length' answer)" -gt 0 ]
	}
	wait_for asked 'dta_ledger_total{counter="received"} > 0'
	tail -c +25 lost.pcap >&8
	queries dta.json expr | sed -e 's/\$region/.*/g' \
		-e 's/\$__rate_interval\|\$__range/1m/g' >queries
	[ "$(wc -l <queries)" = "$(jq '.panels | length' "$SHARE/grafana/dta.json")" ]
	while read -r q; do
		wait_for asked "$q" || { echo "nothing of $q" && false; }
	done <queries
	exec 8>&- 9>&-
}

@test "each panel of int.json has something to show of rows in InfluxDB" {
	need influxd influx curl
	PORT=$(free_port)
	influx_up
	dta-gen int -q -F report --flows 50 -w int.pcap
	int-collect -q -r int.pcap -R all \
		-x "influx://127.0.0.1:$PORT/net?create=yes" >rows
	int-label-ctl sim -q -a 4 --duration 1s -w label.pcap >rows
	int-label-ctl -q -r label.pcap -R all \
		-x "influx://127.0.0.1:$PORT/net?create=yes" >rows
	queries int.json query | sed -e 's/\$node/.*/g' -e 's/\$timeFilter/time > 0/g' \
		-e 's/time(\$__interval)/time(1000w)/' >queries
	[ "$(wc -l <queries)" = "$(jq '.panels | length' "$SHARE/grafana/int.json")" ]
	while read -r q; do
		[ -n "$(influx_ask "$q")" ] || { echo "nothing of $q" && false; }
	done <queries
}
