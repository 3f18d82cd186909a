# SPDX-License-Identifier: BSD-2-Clause
# dta-switch int_label, int_node, apply: what P4 switches are told. Whether they
# take it: tests/p4.

load ../helpers

FLOW='10.0.0.1:443>10.0.0.2:5501/tcp'

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
}

@test "int_label: Base A, hosts, the collector, ways by port and by address" {
	run -0 dta-switch int_label -d 300 -t 1s --mtu 2000 --hosts 3,4 \
		--collector 5,10.0.0.51,02:00:00:00:00:02 \
		10.1.1.0/24=3 10.2.0.1=1 7=1
	diff - <(echo "$output") <<-'END'
		set_queue_depth 65536 3
		table_add LabelIngress.forward.routes LabelIngress.forward.to_port 10.1.1.0/24 => 3
		set_queue_depth 65536 1
		table_add LabelIngress.forward.routes LabelIngress.forward.to_port 10.2.0.1/32 => 1
		table_add LabelIngress.forward.ports LabelIngress.forward.to_port 7 => 1
		table_set_default LabelEgress.self LabelEgress.config 300 1000000 0 0 2000 0
		table_add LabelIngress.edges_in LabelIngress.edge_in 3 =>
		table_add LabelIngress.edges_out LabelIngress.edge_out 3 =>
		table_add LabelIngress.edges_in LabelIngress.edge_in 4 =>
		table_add LabelIngress.edges_out LabelIngress.edge_out 4 =>
		set_queue_depth 65536 5
		mirroring_add 1 5
		table_set_default LabelEgress.exports_to LabelEgress.collector 02:00:00:00:00:02 02:00:00:03:01:2c 10.3.1.44 10.0.0.51
	END
}

@test "int_label: f of Base B as chances of 2^32" {
	run -0 dta-switch int_label -d 1 -b B -f f2 --rest 10ms --no-df
	diff - <(echo "$output") <<-'END'
		table_set_default LabelEgress.self LabelEgress.config 1 50000 10000 1 0 1
		table_add LabelEgress.label_f LabelEgress.chance 0 => 0
		table_add LabelEgress.label_f LabelEgress.chance 1 => 1073741824
		table_add LabelEgress.label_f LabelEgress.chance 2 => 2147483648
		table_add LabelEgress.label_f LabelEgress.chance 3 => 3221225472
		table_add LabelEgress.label_f LabelEgress.chance 4 => 4294967296
	END
}

@test "int_node: source, sink, the words of its instructions" {
	run -0 dta-switch int_node -d 3 --watch "$FLOW" --watch all \
		--instructions 0xff81 --hops 4 --hosts 1 \
		--collector 2,10.0.0.51,02:00:00:00:00:02 0=1
	diff - <(echo "$output") <<-'END'
		set_queue_depth 65536 1
		table_add NodeIngress.forward.ports NodeIngress.forward.to_port 0 => 1
		table_set_default NodeEgress.self NodeEgress.identity 3
		table_add NodeIngress.watchlist NodeIngress.source 10.0.0.1&&&0xffffffff 10.0.0.2&&&0xffffffff 6&&&0xff 443&&&0xffff 5501&&&0xffff => 0xff81 13 4 1
		table_add NodeIngress.watchlist NodeIngress.source 0&&&0 0&&&0 0&&&0 0&&&0 0&&&0 => 0xff81 13 4 2
		table_add NodeIngress.sinks NodeIngress.sink 1 =>
		set_queue_depth 65536 2
		mirroring_add 1 2
		table_set_default NodeEgress.reports_to NodeEgress.collector 02:00:00:00:00:02 02:00:00:03:00:03 10.3.0.3 10.0.0.51
	END
}

refuses() { # MESSAGE OPTION...: and writes nothing
	run -2 --separate-stderr dta-switch "${@:2}"
	[ -z "$output" ]
	[[ $stderr == *"$1"* ]] || { echo "$stderr"; false; }
}

@test "switch: what it refuses" {
	refuses "required: PROGRAM"
	refuses "required: -d/--device" int_label 0=1
	for way in 0 0=511 511=0 10.1.1.1/24=2 ::1=2; do
		refuses "FROM=TO: invalid way value: '$way'" int_label -d 1 1=0 $way
	done
	for bad in 10.0.0.1 2,::1,02:00:00:00:00:02 2,10.0.0.1,2 511,10.0.0.1,02:00:00:00:00:02; do
		refuses "--collector: invalid" int_node -d 1 --collector $bad
	done
	refuses "--hosts: invalid list_of_ports value: '1,'" int_node -d 1 --hosts 1,
	refuses "--mtu: invalid 68 to 65535 value: '67'" int_label -d 1 --mtu 67
	refuses "unrecognized arguments: --no-df" int_node -d 1 --no-df
	refuses "--watch: invalid flow value: '10.0.0.1'" int_node -d 1 \
		--watch 10.0.0.1
	refuses "--instructions: invalid instructions value: '0x0040'" int_node \
		-d 1 --watch all --instructions 0x0040
	refuses "--chance: invalid chances value: 'f3'" int_label -d 1 -b B -f f3
	refuses "say --base B" int_label -d 1 --rest 1ms
	refuses "longer than the labelling interval" int_label -d 1 -b B --rest 1s
	run -2 --separate-stderr int-label-ctl switch int_label -d 1
	[[ $stderr == *"dta-switch int_label"* ]]
}

# A command line of a switch as simple_switch_CLI has it, which takes entries by
# handles: they are in the file table, a line each, HANDLE KEY PERIOD; told has
# what it was told.
cli_of_bmv2() {
	cat >cli <<-'END'
		read -r command name rest
		echo "$command $name $rest" >>told
		printf 'Control utility for runtime P4 table manipulation\nRuntimeCmd: '
		case $command in
		table_dump_entry_from_key)
			handle=$(awk -v k="$rest" '$2 " " $3 " " $4 " " $5 " " $6 == k \
				{ print $1 }' table)
			if [ "$handle" ]; then
				printf 'Dumping entry 0x%x\nMatch key:\n' "$handle"
			else
				echo 'Invalid table operation (BAD_MATCH_KEY)'
			fi ;;
		table_add)
			rest=${rest#label_specific }
			echo "26 ${rest/ => / }" >>table
			echo 'Entry has been added with handle 26' ;;
		table_modify)
			read -r _ handle _ period <<<"$rest"
			sed -i "s/^\($handle .*\) [0-9]*$/\1 $period/" table ;;
		table_delete) sed -i "/^$rest /d" table ;;
		*) echo "*** Unknown syntax: $command" ;;
		esac
		echo 'RuntimeCmd: '
	END
	echo "3 10.0.0.9 10.0.0.2 6 443 5501 1" >table
}

@test "apply: an entry is asked for, then added, changed, deleted" {
	cli_of_bmv2
	int-label-ctl flow add "$FLOW" | dta-switch apply bash cli
	grep -qx '26 10.0.0.1 10.0.0.2 6 443 5501 10000' table
	int-label-ctl flow add "$FLOW" | sed "s/10000\$/1000000/" |
		dta-switch apply bash cli
	grep -qx '26 10.0.0.1 10.0.0.2 6 443 5501 1000000' table
	int-label-ctl flow del "$FLOW" >del
	run -0 dta-switch apply bash cli <del
	[ -z "$output" ]
	[ "$(cat table)" = "3 10.0.0.9 10.0.0.2 6 443 5501 1" ]
	diff - told <<-'END'
		table_dump_entry_from_key label_flow 10.0.0.1 10.0.0.2 6 443 5501
		table_add label_flow label_specific 10.0.0.1 10.0.0.2 6 443 5501 => 10000
		table_dump_entry_from_key label_flow 10.0.0.1 10.0.0.2 6 443 5501
		table_modify label_flow label_specific 26 => 1000000
		table_dump_entry_from_key label_flow 10.0.0.1 10.0.0.2 6 443 5501
		table_delete label_flow 26
	END
	run -1 dta-switch apply bash cli <del
	[ "$output" = "dta-switch: $(cat del): the switch has no such entry" ]
	# what is no flow goes on as it is
	echo register_write label_s 1 4 >s
	run -1 dta-switch apply bash cli <s
	[[ $output == *"the switch: Unknown syntax: register_write" ]]
}

@test "apply: what fails is said" {
	int-label-ctl flow add "$FLOW" >add
	int-label-ctl flow del "$FLOW" >del
	run -1 dta-switch apply false <add
	[ "$output" = "dta-switch: 'false' failed" ]
	run -1 dta-switch apply cat <add
	[ "$output" = "dta-switch: 'cat' does not speak as simple_switch_CLI" ]
	run -1 dta-switch apply echo RuntimeCmd: Invalid table name label_flow <add
	[ "$output" = "dta-switch: $(cat add): the switch: Invalid table name \
label_flow" ]
	# What is asked for is answered, what is said then is not taken.
	run -1 dta-switch apply bash -c 'read -r what _
		[ $what = table_delete ] && echo "Invalid table operation (X)" ||
		echo "Dumping entry 0x1f"' <del
	[ "$output" = "dta-switch: $(cat del): the switch: Invalid table \
operation (X)" ]
}
