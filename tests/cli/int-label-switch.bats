# SPDX-License-Identifier: BSD-2-Clause
# int-label-ctl switch and flow --exec: what P4 switches are told. Whether they
# take it: tests/p4.

load ../helpers

FLOW='10.0.0.1:443>10.0.0.2:5501/tcp'

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
}

@test "int_label: Base A, hosts, the collector, ways by port and by address" {
	run -0 int-label-ctl switch int_label -d 300 -t 1s --mtu 2000 --hosts 3,4 \
		--mirror 5 --collector 10.0.0.51 --collector-mac 02:00:00:00:00:02 \
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
	run -0 int-label-ctl switch int_label -d 1 -b B -f f2 --rest 10ms --no-df
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
	run -0 int-label-ctl switch int_node -d 3 --watch "$FLOW" --watch all \
		--instructions 0xff81 --hops 4 --hosts 1 --mirror 2 \
		--collector 10.0.0.51 --collector-mac 02:00:00:00:00:02 \
		--ip 10.9.9.9 --mac 02:00:00:00:00:09 0=1
	diff - <(echo "$output") <<-'END'
		set_queue_depth 65536 1
		table_add NodeIngress.forward.ports NodeIngress.forward.to_port 0 => 1
		table_set_default NodeEgress.self NodeEgress.identity 3
		table_add NodeIngress.watchlist NodeIngress.source 10.0.0.1&&&0xffffffff 10.0.0.2&&&0xffffffff 6&&&0xff 443&&&0xffff 5501&&&0xffff => 0xff81 13 4 1
		table_add NodeIngress.watchlist NodeIngress.source 0&&&0 0&&&0 0&&&0 0&&&0 0&&&0 => 0xff81 13 4 2
		table_add NodeIngress.sinks NodeIngress.sink 1 =>
		set_queue_depth 65536 2
		mirroring_add 1 2
		table_set_default NodeEgress.reports_to NodeEgress.collector 02:00:00:00:00:02 02:00:00:00:00:09 10.9.9.9 10.0.0.51
	END
}

refuses() { # MESSAGE OPTION...: and writes nothing
	run -2 --separate-stderr int-label-ctl switch "${@:2}"
	[ -z "$output" ]
	[[ $stderr == *"$1"* ]] || { echo "$stderr"; false; }
}

@test "switch: what it refuses" {
	refuses "int_label or int_node?"
	refuses "which --device is it?" int_label 0=1
	refuses "'0' is not FROM=TO, TO a port" int_label -d 1 1=0 0
	refuses "'0=511' is not FROM=TO" int_label -d 1 0=511
	refuses "'511=0' is not FROM=TO, FROM" int_label -d 1 511=0
	refuses "'10.1.1.1/24=2' is not FROM=TO, FROM" int_label -d 1 10.1.1.1/24=2
	refuses "'::1=2' is not FROM=TO, FROM" int_label -d 1 ::1=2
	refuses "--mirror needs --collector and --collector-mac" int_node -d 1 \
		--mirror 1 --collector 10.0.0.1
	refuses "--collector needs --mirror" int_node -d 1 --collector 10.0.0.1
	refuses "--collector: '::1' is no IPv4 address" int_node -d 1 --mirror 1 \
		--collector ::1
	refuses "--hosts: '1,' is not a list of ports" int_node -d 1 --hosts 1,
	refuses "--watch is for int_node" int_label -d 1 --watch all
	refuses "--label is for int_label" int_node -d 1 -t 1s
	refuses "--watch: '10.0.0.1' is not all" int_node -d 1 --watch 10.0.0.1
	refuses "--instructions: '0x0040' has not bits of 0xff81 alone" int_node \
		-d 1 --watch all --instructions 0x0040
	refuses "--chance: the switch has no f3" int_label -d 1 -b B -f f3
}

# A command line of a switch as simple_switch_CLI has it, which takes entries by
# handles: they are in the file table, a line each, HANDLE KEY PERIOD; told has
# what it was told.
cli_of_bmv2() {
	cat >cli <<-'END'
		read -r command name rest
		echo "$LABEL_DEVICE $command $name $rest" >>told
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

@test "flow --exec: an entry is asked for, then added, changed, deleted" {
	cli_of_bmv2
	run -0 int-label-ctl flow add "$FLOW" --exec 'bash cli' -d 7
	[ -z "$output" ]
	grep -qx '26 10.0.0.1 10.0.0.2 6 443 5501 10000' table
	# also where who starts it hears of no children
	(trap '' CHLD && exec int-label-ctl flow add "$FLOW" --every 1s --exec 'bash cli')
	grep -qx '26 10.0.0.1 10.0.0.2 6 443 5501 1000000' table
	int-label-ctl flow del "$FLOW" --exec 'bash cli'
	[ "$(cat table)" = "3 10.0.0.9 10.0.0.2 6 443 5501 1" ]
	diff - told <<-'END'
		7 table_dump_entry_from_key label_flow 10.0.0.1 10.0.0.2 6 443 5501
		7 table_add label_flow label_specific 10.0.0.1 10.0.0.2 6 443 5501 => 10000
		0 table_dump_entry_from_key label_flow 10.0.0.1 10.0.0.2 6 443 5501
		0 table_modify label_flow label_specific 26 => 1000000
		0 table_dump_entry_from_key label_flow 10.0.0.1 10.0.0.2 6 443 5501
		0 table_delete label_flow 26
	END
	run -1 int-label-ctl flow del "$FLOW" --exec 'bash cli'
	[ "$output" = "int-label-ctl flow: $FLOW: the switch does not mark it" ]
}

@test "flow --exec: what fails is said" {
	run -1 int-label-ctl flow add "$FLOW" --exec false
	[ "$output" = "int-label-ctl flow: --exec: 'false' failed" ]
	run -1 int-label-ctl flow add "$FLOW" --exec cat
	[ "$output" = "int-label-ctl flow: --exec: 'cat' does not speak as \
simple_switch_CLI" ]
	run -1 int-label-ctl flow add "$FLOW" \
		--exec 'echo RuntimeCmd: Invalid table name label_flow'
	[ "$output" = "int-label-ctl flow: $FLOW: the switch: Invalid table name \
label_flow" ]
	# What is asked for is answered, what is said then is not taken.
	run -1 int-label-ctl flow del "$FLOW" --exec 'read -r what _
		[ $what = table_delete ] && echo "Invalid table operation (X)" ||
		echo "Dumping entry 0x1f"'
	[ "$output" = "int-label-ctl flow: $FLOW: the switch: Invalid table \
operation (X)" ]
	run -2 int-label-ctl flow add "$FLOW" --exec cat --send sock
	[[ $output == *"--exec"*"--send"* ]] || [[ $output == *"--send"*"--exec"* ]]
}
