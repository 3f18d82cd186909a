# SPDX-License-Identifier: BSD-2-Clause
# libdta.so as it is installed, by the examples in C and in Python: their answers
# are those of dta-query.

load ../helpers

setup_file() {
	cd "$BATS_FILE_TMPDIR" || exit 1
	make -s -C "$TOP" B="${BUILD#"$TOP"/}" install PREFIX="$PWD/into" >install.log
	export PKG_CONFIG_PATH=$PWD/into/lib/pkgconfig
	[[ $BUILD != *san* ]] || SAN_FLAGS=-fsanitize=address,undefined
	# shellcheck disable=SC2086,SC2046
	gcc -Wall -Wextra -Werror into/share/dta/examples/ask.c -o ask \
		$(pkg-config --cflags --libs dta) ${SAN_FLAGS:-}
}

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	INTO=$BATS_FILE_TMPDIR/into
	PATH=$BATS_FILE_TMPDIR:$PATH
	export LD_LIBRARY_PATH=$INTO/lib PYTHONDONTWRITEBYTECODE=1
	export PYTHONPATH=$INTO/lib/python3/dist-packages
	NAME=dta-test-$$-lib
}

teardown() {
	end_bg
	remove_regions "$NAME"
}

# region LAYOUT WORKLOAD [OPTION...]: a region and what was reported into it.
region() {
	dta-collect --create --epochs 2 -l "$EXAMPLES/$1.ini" -R "$NAME-$1"
	dta-gen "$2" "${@:3}" --flows 500 --truth "$1.csv" -q -w "$1.pcap"
	dta-translate -q -r "$1.pcap" -R "$NAME-$1" 2>/dev/null
	cut -d, -f3 "$1.csv" | sed 1d | awk '!seen[$0]++' >"$1.keys"
}

# The rows of dta-query in NDJSON as the examples print them.
answers() {
	jq -r '"\(.key) \(.answer) \(.copies) \(.epoch // 0) \(.source // "-") " +
		if .answer != "found" then "" else del(.key, .answer, .copies, .epoch,
		.source, .table, .agreed, .matched, .valid, .hops, .holes) |
		[.[]] | flatten | map(tostring) | join(",") end'
}

entries() {
	jq -r '"\(.list) \(.index) \(.epoch) " + (del(.list, .index, .epoch, .source,
		.table) | [.[]] | flatten | map(tostring) | join(","))'
}

# Debian's: a sanitized library needs its sanitizer before Python.
python() {
	[[ $BUILD != *san* ]] || skip "Python is not sanitized"
	/usr/bin/python3 "$@"
}
need_numpy() { python -c 'import numpy' 2>/dev/null || skip "no python3-numpy"; }

# same VERB SOURCE TABLE KEYS: the answers of dta-query, and of ask.
same() {
	local option=--region keys

	[[ $2 != *.snap ]] || option=--snapshot
	mapfile -t keys <"$4"
	dta-query "$1" -q $option "$2" -t "$3" -o ndjson "${keys[@]}" >rows || :
	ask "$2" "$3" "${keys[@]}" >asked
	if [ "$1" = list ]; then entries <rows; else answers <rows; fi >query
	[ "$(wc -l <query)" -gt 100 ]
	diff query <(sed 1d asked)
	[[ $BUILD != *san* ]] || return 0
	python "$INTO/share/dta/examples/ask.py" "$2" "$3" "${keys[@]}" >asked
	diff query <(sed 1d asked)
}

@test "what is seen of it" {
	nm -D --defined-only "$INTO/lib/libdta.so" | awk '{ print $3 }' | sort >seen
	grep -v ^typedef "$INTO/include/dta.h" | grep -oE '\bdta_[a-z_]+\(' | tr -d '(' | sort -u |
		sed 's/$/@@LIBDTA_1.1/' >declared
	diff <(grep -v '^LIBDTA_1.1$' seen) declared
	readelf -d "$INTO/lib/libdta.so.1" >said
	grep -q 'SONAME.*\[libdta.so.1\]' said
	run -1 grep -E 'NEEDED.*(pcap|curl|edit|kafka)' said
	[ "$(pkg-config --libs dta)" = "-L$INTO/lib -ldta " ]
	[ "$(cd "$INTO" && find include lib -name '*dta*' ! -path '*/*/*' | sort)" = \
		"$(printf '%s\n' include/dta.h lib/libdta.so lib/libdta.so.1)" ]
}

@test "the page has every call; its example works" {
	grep -v '^typedef' "$INTO/include/dta.h" | grep -oE '\bdta_[a-z_]+\(' |
		tr -d '(' | sort -u >declared
	sed -n 's/^\.Nm \([a-z_]*\).*/\1/p' "$INTO/share/man/man3/libdta.3" | sort |
		diff - declared
	sed -nE 's/^\.F[no] (dta_[a-z_]*).*/\1/p' "$INTO/share/man/man3/libdta.3" |
		sort -u | grep -vx dta_counter_each | diff - declared
	[ "$(cat "$INTO/share/man/man3/dta_ask.3")" = '.so man3/libdta.3' ]
	sed -n '/^\.Sh EXAMPLES/,/^\.Ed/{s/\\e/\\/;p}' "$TOP/man/libdta.3" |
		sed -n '/^#include/,/^}/p' >page.c
	sed -i "s/\"example\"/\"$NAME-int-path\"/" page.c
	gcc -Wall -Wextra -Werror page.c -o page $(pkg-config --cflags --libs dta) \
		$([[ $BUILD != *san* ]] || echo -fsanitize=address,undefined)
	region int-path int-path
	key=$(head -n 1 int-path.keys)
	./page 1.2.3.4:5\>6.7.8.9:10/tcp "$key" >seen
	value=$(dta-query keywrite -q -R "$NAME-int-path" "$key" -o ndjson |
		jq -r '.value | join(",")')
	diff seen <(printf 'not_found: -\nfound: %s\n' "$value")
}

@test "README.md's programs" {
	local k

	region int-path int-path
	for k in c python; do
		sed -n '/^## From C/,/^## Where/p' "$TOP/README.md" |
			sed -n "/^\`\`\`$k/,/^\`\`\`\$/{/^\`/d;p}" >"own.$k"
	done
	mv own.c x.c
	gcc -Wall -Wextra -Werror x.c -o x $(pkg-config --cflags --libs dta) \
		$([[ $BUILD != *san* ]] || echo -fsanitize=address,undefined)
	key=$(head -n 1 int-path.keys)
	value=$(dta-query keywrite -q -R "$NAME-int-path" "$key" -o ndjson |
		jq -r '.value | join(",")')
	[ "$(./x "$NAME-int-path" "$key")" = "found $value" ]
	need_numpy
	python own.python "$NAME-int-path" "$key" >seen
	[ "$(head -n 1 seen)" = "$value" ]
	grep -qE '^[0-9]+ slots of 1048576$' seen
}

@test "keywrite, paths, counters: the answers of dta-query" {
	region int-path int-path
	same keywrite "$NAME-int-path" flows int-path.keys
	ask "$NAME-int-path" flows 1.2.3.4:5\>6.7.8.9:10/tcp | grep ' not_found 2 0 - $'
	region int-postcard int-postcard
	same path "$NAME-int-postcard" paths int-postcard.keys
	region turboflow turboflow
	same count "$NAME-turboflow" packets turboflow.keys
}

@test "lists: the entries of dta-query" {
	region dshark dshark
	seq 0 15 >lists
	same list "$NAME-dshark" summaries lists
}

@test "two epochs, and a snapshot" {
	region int-path int-path
	dta-collect --rotate -R "$NAME-int-path"
	same keywrite "$NAME-int-path" flows int-path.keys
	dta-collect --snapshot all.snap -R "$NAME-int-path"
	same keywrite all.snap flows int-path.keys
}

@test "a cluster: each key is asked of its owner" {
	region int-path int-path
	for i in 0 1; do
		dta-collect --create -l "$EXAMPLES/int-path.ini" -R "$NAME-$i"
		printf '[collector %s]\nregion = %s\n' $i "$NAME-$i" >>cluster.ini
	done
	printf '%s\n' '[cluster]' version=1 '[generation 1]' 'collectors=0 1' >>cluster.ini
	dta-translate -q -r int-path.pcap --cluster cluster.ini
	dta-query keywrite -q --cluster cluster.ini -t flows -k int-path.keys \
		-o ndjson | answers >query
	cut -d' ' -f5 query | sort | uniq -c | awk '$1 < 100 { exit 1 }'
	cat >ask.py <<-'END'
		import dta, sys
		flows = dta.open(cluster="cluster.ini")["flows"]
		for a in flows.ask(open("int-path.keys").read().split()):
		    print(a.key, a.answer, a.copies, a.epoch or 0, a.source or "-", a.text)
	END
	python ask.py >said # no pipe: python() may skip
	diff query said
}

@test "tables and counters, in C and in Python" {
	region int-path int-path
	ask "$NAME-int-path" >seen
	diff seen - <<-'END'
		table kind units bytes
		flows keywrite 1048576 33554432
		flows6 keywrite 262144 8388608
	END
	mkfifo pipe
	bg dta-translate -r pipe -R "$NAME-int-path"
	exec 7>pipe
	head -c 24 int-path.pcap >&7 # the header
	counted() { ask | grep -q "^dta-translate ${BG_PIDS[0]} translate received in 0$"; }
	wait_for counted
	ask | sed 's/ [0-9]*$//' >seen
	[ "$(wc -l <seen)" -gt 20 ]
	if [[ $BUILD != *san* ]]; then
		diff <(ask "$NAME-int-path") \
			<(python "$INTO/share/dta/examples/ask.py" "$NAME-int-path")
		python "$INTO/share/dta/examples/ask.py" | sed 's/ [0-9]*$//' | diff seen -
	fi
	exec 7>&-
}

@test "wrong uses: what is wrong, in words" {
	region int-path int-path
	says() { # EXIT TEXT COMMAND...
		run "-$1" "${@:3}"
		echo "$output"
		[[ $output == *"$2"* ]]
	}
	says 1 "nowhere: no such region" ask "$NAME-nowhere"
	says 1 "there is no table 'flow', only flows, flows6" ask "$NAME-int-path" flow
	says 1 "'x' is no key of table flows" ask "$NAME-int-path" flows x
	echo nothing >bad.snap
	says 1 "bad.snap: not a snapshot" ask bad.snap
	cat >wrong.c <<-'END'
		#include <dta.h>
		#include <errno.h>
		#include <stdio.h>
		#include <string.h>

		#define SAYS(call) printf("%s: %s\n", strerrorname_np(-(int)(call)), dta_error(d))

		int main(int argc, char **argv)
		{
			struct dta *d = dta_new();
			const struct dta_table *t;
			struct dta_answer old[2] = {{0}};
			uint64_t epoch;
			char key[13];

			(void)argc;
			SAYS(dta_set(d, "regoin", "x"));
			SAYS(dta_set(d, "copies", "5"));
			SAYS(dta_set(d, "policy", "best"));
			SAYS(dta_set(d, "epoch", "2-1"));
			SAYS(dta_set(d, "region", NULL));
			SAYS(dta_epochs(d, &epoch, &epoch));
			SAYS(dta_open(d));
			dta_set(d, "region", argv[1]);
			dta_set(d, "verbs", "x");
			SAYS(dta_open(d));
			dta_close(d);
			d = dta_new();
			dta_set(d, "region", argv[1]);
			SAYS(dta_open(d));
			SAYS(dta_open(d));
			SAYS(dta_set(d, "snapshot", "x"));
			t = dta_table_find(d, "flows");
			SAYS(dta_read(d, t, 1, dta_table_number(t, "length"), key, 1));
			SAYS(dta_read(d, t, 7, 0, key, 1));
			SAYS(dta_list_count(d, t, 0, 0, &epoch, &epoch));
			/* A caller of a version whose struct was shorter. */
			dta_key(d, t, argv[2], key);
			memset(old, 0xff, sizeof(old));
			printf("%d ", (int)dta_ask(d, t, key, 1, old, 8, NULL));
			printf("%x %d\n", old[0].source, old[0].matched);
			dta_close(d);
			return 0;
		}
	END
	gcc -D_GNU_SOURCE -Wall -Wextra -Werror wrong.c -o wrong \
		$(pkg-config --cflags --libs dta) \
		$([[ $BUILD != *san* ]] || echo -fsanitize=address,undefined)
	./wrong "$NAME-int-path" "$(head -n 1 int-path.keys)" |
		sed "s/$NAME-//; s/^0: .*/0/" >seen
	diff seen - <<-'END'
		ENOENT: regoin: no such option
		EINVAL: copies: '5' is none; see dta-query(1)
		EINVAL: policy: 'best' is none; see dta-query(1)
		EINVAL: epoch: '2-1' is none; see dta-query(1)
		EINVAL: region: '' is none; see dta-query(1)
		EINVAL: dta_open() comes first
		EINVAL: one of region, verbs and cluster is to be set, or snapshot: beside it or alone, but not beside cluster
		EINVAL: one of region, verbs and cluster is to be set, or snapshot: beside it or alone, but not beside cluster
		0
		EBUSY: it is open already
		EBUSY: snapshot: is to come before dta_open()
		ERANGE: table flows has 33554432 bytes
		ENOENT: table flows: no epoch 7
		EINVAL: table flows is keywrite and has no lists, only append tables do: dta_ask()
		1 ffffffff 2
	END
}

@test "a damaged block ends no list: what is in it is counted, the rest is read" {
	printf '%s\n' '[t]' kind=append value=4 lists=1 ring=64Ki batch=4 >big.ini
	dta-collect --create -l big.ini -R "$NAME-big"
	dta-gen uniform --kind append --lists 1 --count 40000 -q -w reports.pcap
	dta-translate -q -r reports.pcap -R "$NAME-big"
	dta-query list -R "$NAME-big" -q -o csv | cut -d, -f1-4 >all
	dta-collect -R "$NAME-big" --snapshot s.dta
	# The second block of 64 KiB, behind the "DBLK" of its header.
	at=$(grep -abo DBLK s.dta | sed -n '2s/:.*//p')
	printf '\125\252\125' | dd of=s.dta bs=1 seek=$((at + 9999)) conv=notrunc \
		status=none
	run -1 --separate-stderr dta-query list --snapshot s.dta -o csv
	sed '16386,32769d' all | diff - <(cut -d, -f1-4 <<<"$output")
	[ "${stderr_lines[*]}" = "dta-query: t: list 0: a damaged block dta-query:\
 23616 entries, 0 lost, 16384 unreadable" ]
	# The same from programs, which are told of each entry.
	python - <<-'END'
		import dta
		entries, n, bad = dta.open(snapshot="s.dta")["t"].list(0), 0, 0
		while True:
		    try:
		        block = entries.read()
		        if not block:
		            break
		        n += len(block[2]) // 4
		    except dta.Error:
		        bad += 1
		assert (n, bad) == (23616, 16384)
	END
}

@test "a list is followed: rotation, what is lost, epochs that went by" {
	printf '%s\n' '[t]' kind=append value=4 lists=2 ring=64 batch=1 show=u32 \
		>small.ini
	dta-collect --create --epochs 2 -l small.ini -R "$NAME-small"
	report() { # FROM TO
		{
			echo list,value
			seq "$1" "$2" | sed 's/^/1,/'
		} | dta-gen csv --from - --kind append --as u32 -q -w - |
			dta-translate -q -r - -R "$NAME-small" 2>/dev/null
	}
	cat >follow.py <<-'END'
		import sys, dta
		t = dta.open(sys.argv[1])["t"]
		entries = t.list(1, 2)
		while sys.stdin.buffer.read(1):
		    try:
		        lost = entries.lost
		        while block := entries.read(64):
		            index, epoch, data = block
		            print(len(data) // 4, "from", t.text(data[:4]) + ", at", index,
		                  "of", str(epoch) + ", lost", entries.lost - lost)
		            lost = entries.lost
		        print("-", flush=True)
		    except dta.Error as error:
		        print(error.strerror, flush=True)
	END
	python -c ''
	report 1 10
	mkfifo turn
	python3 follow.py "$NAME-small" <turn >said &
	follower=$!
	exec 7>turn
	said() { [ "$(grep -c '^[-e]' said)" -ge "$1" ]; }
	turn() { # N: the Nth one has ended
		printf . >&7
		wait_for said "$1"
	}
	turn 1
	report 11 13
	turn 2
	report 14 213
	turn 3
	report 214 214
	dta-collect --rotate -R "$NAME-small"
	report 215 216
	turn 4
	for i in 1 2 3; do dta-collect --rotate -R "$NAME-small"; done
	report 217 217
	turn 5
	turn 6
	exec 7>&-
	wait $follower
	diff said - <<-'END'
		2 from 9, at 8 of 1, lost 0
		-
		3 from 11, at 10 of 1, lost 0
		-
		63 from 151, at 150 of 1, lost 137
		-
		1 from 214, at 213 of 1, lost 0
		2 from 215, at 0 of 2, lost 0
		-
		epochs 3 to 3 went by unread
		1 from 217, at 0 of 5, lost 0
		-
	END
}

@test "Python: keys as numpy and pandas have them, threads, wrong uses" {
	need_numpy
	region int-path int-path
	printf '[n]\nid = 3\nkind = keywrite\nkey = u32\nvalue = 4\nslots = 4Ki\n' >n.ini
	dta-collect --create -l n.ini -R "$NAME-n"
	dta-gen uniform -q --key-type u32 --table 3 -c 500 --truth n.csv -w n.pcap
	dta-translate -q -r n.pcap -R "$NAME-n"
	cat >keys.py <<-'END'
		import concurrent.futures, copy, csv, pickle, sys, numpy, dta
		name = sys.argv[1]
		source = dta.open(name + "-int-path")
		t = source["flows"]
		keys = open("int-path.keys").read().split()
		found = lambda answers: sum(a.answer == "found" for a in answers)
		want = found(t.ask(keys))
		print(want > 0, "flows" in source, "x" in source)
		for texts in numpy.array(keys), numpy.array(keys, "O"):
		    print(found(t.ask(texts)) == want)
		n = dta.open(name + "-n")["n"]
		numbers = [int(row["key"]) for row in csv.DictReader(open("n.csv"))]
		there = found(n.ask(list(map(str, numbers))))
		for form in "i8", "u4", ">u4":
		    print(there > 0, found(n.ask(numpy.array(numbers, form))) == there)
		print(found(n.ask(numbers)) == there)
		with concurrent.futures.ThreadPoolExecutor(4) as pool:
		    print(set(pool.map(lambda _: found(t.ask(keys)), range(40))) == {want})
		    def told(i):  # each thread what is wrong with its own
		        try:
		            t.key_bytes("wrong%d" % i)
		        except dta.Error as e:
		            return "'wrong%d'" % i in str(e)
		    print(set(pool.map(told, range(4000))) == {True})
		for wrong in (lambda: t.text(7), lambda: t.text(None), lambda: t.text(b"x"),
		              lambda: copy.deepcopy(t), lambda: pickle.dumps(source)):
		    try:
		        print(wrong())
		    except (TypeError, ValueError) as e:
		        print(type(e).__name__)
		try:
		    source["x"]
		except dta.Error as e:
		    print(e.errno)
	END
	python keys.py "$NAME" >seen
	diff seen - <<-'END'
		True True False
		True
		True
		True True
		True True
		True True
		True
		True
		True
		TypeError
		TypeError
		ValueError
		TypeError
		TypeError
		2
	END
}

@test "Python: arrays over the mapped memory, and of a snapshot" {
	need_numpy
	region int-path int-path
	dta-collect --snapshot all.snap -R "$NAME-int-path"
	region dshark dshark
	region int-postcard int-postcard
	cat >arrays.py <<-'END'
		import atexit, gc, sys
		atexit.register(lambda: print(a["sum"].any()))  # after all is closed
		import numpy, dta
		name = sys.argv[1]
		live = dta.open(name + "-int-path")["flows"]
		a, b = live.array(), dta.open(snapshot="all.snap")["flows"].array()
		print(a.shape, a.dtype.itemsize, (a == b).all(), a.flags.writeable)
		keys = open("int-path.keys").read().split()
		asked = live.ask(keys)
		stored = set(map(bytes, a["value"][a["sum"] != 0]))
		print(all(v.tobytes() in stored for v in asked.values()))
		print((asked.array()["found"] == 0).all(), [r.key for r in asked] == keys)
		raw = numpy.frombuffer(b"".join(map(live.key_bytes, keys)), "u1")
		print(live.ask(raw.reshape(-1, live.key_len))[7].value == asked[7].value)
		t = dta.open(name + "-dshark")["summaries"]
		n = int(t.counts()[3])
		fresh = t.list(3)
		print(t.array().shape, (t.array()["value"][3, :n] == fresh.array()).all())
		print(fresh.array().size, t.array()["value"].dtype.names)
		p = dta.open(name + "-int-postcard", policy="first", copies=1)["paths"]
		got = p.ask(open("int-postcard.keys").read().split())
		print(all(tuple(v[:len(r.value)]) == r.value
		          for r, v in zip(got, got.values()) if r.value))
		del live
		gc.collect()
		print(a["sum"].any())
	END
	python arrays.py "$NAME" >seen
	diff seen - <<-'END'
		(1048576,) 32 True False
		True
		True True
		True
		(16, 65536) True
		0 ('flow', 'switch', 'time_us', 'ip_id', 'length', 'ttl', 'flags', 'hop')
		True
		True
		True
	END
}

@test "Python: frames, where pandas is; sources that are closed" {
	need_numpy
	region int-path int-path
	region dshark dshark
	region turboflow turboflow
	region int-postcard int-postcard
	cat >frames.py <<-'END'
		import sys, dta
		name = sys.argv[1] + "-"
		keys = lambda of: open(of + ".keys").read().split()
		with dta.open(name + "int-path") as source:
		    flows, memory = source["flows"], source["flows"].array()
		    asked = flows.ask(keys("int-path"))
		    frame, f = asked.frame(), flows.frame()
		    print(list(frame.columns), list(f.columns), f.index.is_unique)
		    print(frame["value"].tolist() == asked.values().tolist())
		    print(len(f) == (memory["sum"] != 0).sum(),
		          (memory["sum"][f.index] == f["sum"]).all())
		lost = lambda: flows.ask(keys("int-path"))
		for wrong in lost, flows.array, lambda: asked[0], lambda: source["flows"]:
		    try:
		        print(wrong())
		    except dta.Error as e:
		        print(e)
		print(memory["sum"].any())
		t = dta.open(name + "dshark")["summaries"]
		f = t.frame()
		print(list(f.columns)[:4], len(f) == t.counts().sum(),
		      f.dtypes["ttl"], f["list"].nunique() > 1)
		one, three = t.list(3).frame(), f[f["list"] == 3]
		print((one["time_us"].values == three["time_us"].values).all(),
		      list(one["index"]) == list(range(len(one))), set(one["epoch"]))
		cursor = t.list(3)
		print(len(cursor.frame()) == len(one), len(cursor.frame()))
		c = dta.open(name + "turboflow")["packets"]
		print(c.frame()["value"].sum() == c.array().sum())
		p = dta.open(name + "int-postcard")["paths"]
		f = p.ask(keys("int-postcard")).frame()
		print(f["value"][0] == list(p.ask(keys("int-postcard"))[0].value),
		      list(p.frame().columns))
	END
	if python -c 'import pandas' 2>/dev/null; then
		python frames.py "$NAME" >seen
		diff seen - <<-'END'
			['key', 'answer', 'value', 'agreed', 'matched', 'copies', 'epoch'] ['sum', 'value'] True
			True
			True True
			[Errno 9] closed
			[Errno 9] closed
			[Errno 9] closed
			[Errno 9] closed
			True
			['list', 'index', 'epoch', 'flow'] True UInt8 True
			True True {1}
			True 0
			True
			True ['hop']
		END
	fi
	mkdir none
	echo 'raise ImportError' >none/pandas.py
	for of in flows.frame 'summaries.list(0).frame' 'flows.ask([]).frame'; do
		PYTHONPATH=none:$PYTHONPATH run python -c "import dta
flows = dta.open('$NAME-int-path')['flows']
summaries = dta.open('$NAME-dshark')['summaries']
$of()"
		[[ $output == *"frame() needs the package pandas (of Debian: python3-pandas)" ]]
	done
}
