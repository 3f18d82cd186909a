# SPDX-License-Identifier: BSD-2-Clause
# The man pages: there is one for every program, it lints clean, it has the
# options that the program has, and its EXAMPLES work.
#
# An example is a line "$ command" in EXAMPLES; it goes on while a line ends
# with a backslash or a bar. The lines that follow are what it prints, compared
# if there are any. Roff comments before it: .\" exit N, .\" output varies (its
# header alone is compared); those with .\" needs DATABASE are run where there is
# one: int-export.bats.
# Regions in examples are called example or example-something; here they get
# names of our own, so that no two runs meet.

load ../helpers

setup() {
	cd "$BATS_TEST_TMPDIR" || exit 1
	mapfile -t PAGES < <(cd "$TOP/man" && ls -- *.[1357])
	[ ${#PAGES[@]} -gt 0 ]
	REGION=dta-test-$$-man
}

teardown() {
	remove_regions "$REGION"
	rm -f "/dev/shm/$REGION"*
}

# What has options of its own on a page: the program, and each of its commands
# that has a section by its name, as dta-gen int has DTA-GEN INT.
commands_of() { # page
	local program

	program=$(basename "$1" .1)
	echo "$program"
	sed -n 's/^\.Sh //p' "$1" | tr A-Z a-z | grep "^$program " || :
}

# The options of a command on a page: first letters and names in the .It lines
# of its section, one a line; those of the program are in all others.
page_options() { # page command
	awk -v command="$2" '
	$1 == ".Sh" {
		title = tolower(substr($0, 5))
		other = index(title, program " ") == 1
	}
	BEGIN { program = command; sub(/ .*/, "", program) }
	$1 == ".It" && $2 == "Fl" &&
	    (command == program ? !other : title == command) {
		fl = 0
		for (i = 2; i <= NF; i++) {
			if ($i == "Fl")
				fl = 1
			else if ($i ~ /^[A-Z][a-z]$/)
				fl = 0
			else if (fl && $i != ",")
				print "-" $i
		}
	}' "$1" | sort -u
}

program_options() {
	{ "$@" --help-all 2>/dev/null || "$@" -h; } | sed -nE 's/^  (-.)( [^ ]+)?, (--[a-z0-9-]+).*/\1\n\3/p
		s/^ {2,6}(--[a-z0-9-]+).*/\1/p' | sort -u
}

# Splits EXAMPLES into N.sh, N.want, N.exit; prints how many there are.
split_examples() {
	awk -v dir="$2" '
	function unroff(s) {
		gsub(/\\&/, "", s); gsub(/\\-/, "-", s)
		gsub(/\\\(aq/, "\047", s); gsub(/\\\(ga/, "`", s)
		gsub(/\\e/, "\\", s)
		return s
	}
	BEGIN { code = 0 }
	/^\.Sh / { inside = $2 == "EXAMPLES" }
	!inside { next }
	/^\.Bd -literal/ { literal = 1; n0 = n; next }
	/^\.Ed/ { literal = 0; next }
	/^\.\\" exit / { code = $3; next }
	/^\.\\" output varies/ { varies = 1; next }
	/^\.\\" needs / { needs = $3; next }
	/^\./ || !literal { next }
	{ $0 = unroff($0) }
	/^\$ / || more {
		if (!more) {
			n++
			print code >(dir "/" n ".exit")
			if (varies)
				print "" >(dir "/" n ".varies")
			if (needs)
				print needs >(dir "/" n ".needs")
			code = varies = 0
			needs = ""
		}
		sub(/^\$ /, "")
		print >(dir "/" n ".sh")
		more = /[\\|]$/
		next
	}
	n > n0 { print >(dir "/" n ".want") }
	END { print n + 0 }' "$1"
}

# Runs example N of the directory "$1" in the directory in hand.
run_example() {
	local base=$1/$2 want status=() s last

	sed -i "s/\bexample\b/$REGION/g" "$base".sh
	want=$(<"$base.exit")
	echo "example $2: $(<"$base.sh")"
	echo 'echo "${PIPESTATUS[@]}" >.status' >>"$base.sh"
	rm -f .status
	timeout 120 bash "$base.sh" </dev/null >"$base.out" 2>"$base.err" || :
	cat "$base.out" "$base.err"
	read -ra status <.status
	last=$((${#status[@]} - 1))
	echo "status ${status[*]}, expected $want"
	[ "${status[last]}" = "$want" ]
	for s in "${status[@]:0:last}"; do # whose reader had enough: 141
		[ "$s" = 0 ] || [ "$s" = 141 ]
	done
	if [ -e "$base.want" ] && [ ! -e "$base.varies" ]; then
		sed "s/$REGION/example/g" "$base.out" | diff -u "$base.want" -
	elif [ -e "$base.want" ]; then # its header does not
		s=$(head -n 1 "$base.want" | grep -xE '[A-Z_ ]+(\.\.\.)?' | tr -s ' ')
		cat "$base.out" "$base.err" | tr -s ' ' | grep -qF -- "${s% ...}"
	fi
}

@test "every program has a page, and every page of section 1 a program" {
	for p in "$TOP"/cmd/*/main.c "$TOP"/p4/tools/dta-*; do
		p=${p%/main.c} p=${p##*/}
		echo "program: $p"
		[ -e "$TOP/man/$p.1" ]
		sed -n '/^.Sh PROGRAMS/,/^.Sh/p' "$TOP/man/dta.7" |
			grep -q "^\.It Xr $p 1"
	done
	for page in "${PAGES[@]}"; do
		[[ $page == *.1 ]] || continue
		echo "page: $page"
		[ -e "$TOP/cmd/${page%.1}/main.c" ] || [ -x "$TOP/p4/tools/${page%.1}" ]
	done
}

@test "no page shows an option's value as an option" {
	for page in "${PAGES[@]}"; do
		mandoc -T ascii "$TOP/man/$page" | sed 's/.\x08//g' >shown
		run ! grep -E -- '(^| )-[a-z] -[0-9]' shown
	done
}

@test "every page lints clean" {
	for page in "${PAGES[@]}"; do
		echo "page: $page"
		# EXAMPLES stand before the DESCRIPTION, where they are looked for
		mandoc -T lint -W warning "$TOP/man/$page" >found || :
		run ! grep -v 'conventional order: Sh DESCRIPTION$' found
	done
}

@test "every page comes without a warning out of Debian's man, too" {
	for page in "${PAGES[@]}"; do
		echo "page: $page"
		run -0 --separate-stderr groff -mdoc -ww -Tutf8 "$TOP/man/$page"
		echo "$stderr"
		[ -z "$stderr" ]
		# a macro in the middle of a line is text
		run ! grep -nE ' [.][A-Z%][a-z]( |$)' "$TOP/man/$page"
	done
}

@test "every page of a program has EXIT STATUS, and EXAMPLES behind the synopsis" {
	for page in "${PAGES[@]}"; do
		[[ $page == *.1 ]] || continue
		echo "page: $page"
		grep -qx '\.Sh EXIT STATUS' "$TOP/man/$page"
		[ "$(grep '^\.Sh ' "$TOP/man/$page" | sed -n 3p)" = '.Sh EXAMPLES' ]
	done
}

@test "the options of a program and of its page are the same" {
	for page in "${PAGES[@]}"; do
		[[ $page == *.1 ]] || continue
		echo "page: $page"
		while read -r command; do
			echo "command: $command"
			# shellcheck disable=SC2086 # dta-gen int: two words
			program_options $command >program
			page_options "$TOP/man/$page" "$command" >page
			[ "$(wc -l <program)" -ge 4 ]
			diff -u program page
		done < <(commands_of "$TOP/man/$page")
	done
}

# Counters by name are in the golden file of fields.bats.
@test "every counter of a ledger is on its program's page" {
	awk '/^# / { program = $2 == "ledger" ? $4 : ""; next }
		program { print program, $3 }' "$BATS_TEST_DIRNAME/../golden/fields.txt" |
		sort -u >counters
	[ "$(cut -d' ' -f1 counters | sort -u | wc -l)" -ge 4 ]
	while read -r program counter; do
		awk -v c="$counter" '$1 ~ /^\.(It|Em|Cm)$/ {
			for (i = 2; i <= NF; i++)
				if ($i == c) found = 1
		} END { exit !found }' "$TOP/man/$program.1" ||
			echo "$program: $counter"
	done <counters | tee missing
	[ ! -s missing ]
}

@test "pages have every kind of table, and every subcommand of dta-query" {
	local page word

	sed -n '/ dta_opcode_names\[/,/^}/s/.* = "\(.*\)",$/\1/p' \
		"$TOP/lib/net/dta.c" | grep -vx nack >kinds
	dta-query x 2>&1 | sed -n 's/,\| or / /g; s/.* is not//p' | xargs -n 1 >verbs
	[ "$(cat kinds verbs | wc -l)" -ge 10 ]
	while read -r word; do
		for page in dta.7 dta-region.5 dta-{query,gen,dump,collect}.1; do
			grep -qw -- "$word" "$TOP/man/$page" || echo "$page: $word"
		done
	done <kinds | tee missing
	while read -r word; do
		grep -qx "\.Ss $word" "$TOP/man/dta-query.1" || echo "$word"
	done <verbs | tee -a missing
	[ ! -s missing ]
}

@test "what pages refer to is there" {
	for page in "${PAGES[@]}"; do
		sed -nE 's/^\.(It )?Xr ((dta|int)[a-z-]*) ([157]).*/\2.\4/p' \
			"$TOP/man/$page" | sort -u |
			while read -r other; do
				echo "page: $page refers to $other"
				[ -e "$TOP/man/$other" ]
			done
	done
}

@test "the examples of every page" {
	for page in "${PAGES[@]}"; do
		echo "page: $page"
		mkdir "$page" "$page.examples"
		cd "$page"
		cp "$TOP"/cmd/dta-collect/examples/*.ini .
		n=$(split_examples "$TOP/man/$page" ../"$page.examples")
		[[ $page != *.1 || $n -gt 0 ]]
		for ((i = 1; i <= n; i++)); do
			[ -e "../$page.examples/$i.needs" ] ||
				run_example ../"$page.examples" "$i"
		done
		cd ..
		# Examples take their regions away themselves.
		for left in /dev/shm /dev/hugepages; do
			run -1 compgen -G "$left/$REGION*"
		done
	done
}

@test "the page of profiles has each key, and the fields of all bits" {
	local key

	sed -n '/ profile_keys\[\]/,/NULL }/p' "$TOP/lib/int/profile_file.c" |
		sed -nE 's/^\t(\{ "|PORT\(|YES\()([a-z_]+).*/\2/p' >keys
	[ "$(wc -l <keys)" -gt 10 ]
	while read -r key; do
		grep -qE "^\.It Cm (.* , )?$key( |$)" "$TOP/man/int-profile.5" ||
			{ echo "$key"; return 1; }
	done <keys
	sed -n '/ profile_field_names\[/,/^}/s/.* = "\(.*\)",$/\1/p' \
		"$TOP/lib/int/profile_file.c" >fields
	[ "$(wc -l <fields)" -gt 10 ]
	while read -r key; do
		sed -n '/^The fields are$/,/^\.Pp/p' "$TOP/man/int-profile.5" |
			grep -qw "$key" || { echo "$key"; return 1; }
	done <fields
}
