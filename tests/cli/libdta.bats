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
	export LD_LIBRARY_PATH=$INTO/lib
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
