# SPDX-License-Identifier: BSD-2-Clause
# Completion for bash, one text for all programs: it reads what their --help-all says, so
# that a new option needs no line here. Installed under each program's name, by
# which bash-completion loads it. Where nothing fits, bash completes files.

# _dta_options COMMAND...: its options, a line each: names, value, text, with
# tabs between.
_dta_options() {
	"$@" --help-all 2>/dev/null | awk -v OFS='\t' '
		/^  (-.,|   ) --/ {
			if (names) print names, value, text
			match($0, /^ +(-., )?--[^ ]+/)
			names = substr($0, 1, RLENGTH)
			text = substr($0, RLENGTH + 2)
			value = text ~ /^[^ ]/ ? text : ""
			sub(/ .*/, "", value)
			text = substr(text, length(value) + 1)
			next
		}
		/^ {20}/ { text = text " " $0 }
		END { if (names) print names, value, text }'
}

# _dta_verbs PROGRAM: subcommands of the synopsis, and workloads.
_dta_verbs() {
	"$1" -h 2>/dev/null | tr -d '[]' |
		sed -nE "s/^(usage:|      ) ${1##*/} ([a-z|]+)([ :].*)?$/\2/p" | tr '|' '\n' | sort -u
	[ "${1##*/}" != dta-gen ] || "$1" --list -o csv | sed '1d; s/,.*//'
}

_dta_regions() { dta-dump regions --no-load -o csv 2>/dev/null | sed '1d; s/,.*//'; }

# The tables of the region that the command line names.
_dta_tables() {
	local i

	for ((i = 1; i < ${#COMP_WORDS[@]} - 1; i++)); do
		case ${COMP_WORDS[i]} in
		-R | --region | region | digest)
			dta-dump region "${COMP_WORDS[i + 1]}" --no-load -o csv 2>/dev/null |
				sed '1d; s/,.*//'
			return
			;;
		esac
	done
}

# _dta_value PROGRAM OPTION VALUE TEXT: what may be its value.
_dta_value() {
	case $2:$3 in
	*:IFACE) ls /sys/class/net ;;
	-R:* | --region:*) _dta_regions ;;
	-t:NAME | --table:NAME) _dta_tables ;;
	*:FORMAT | *:F | *:KIND | *:P | *:TABLE) # "text (default), csv or ndjson"
		sed -E 's/ *\([^)]*\)//g; s/^.*: //' <<<"$4" |
			grep -oE '[a-z0-9]+(, [a-z0-9]+)*( or [a-z0-9]+)?' |
			grep -m 1 -E ',| or ' | sed -E 's/,| or / /g'
		;;
	esac
}

_dta() {
	local program=("$1") now=$2 before=$3 options option words

	# --region=NAME is three words to bash.
	if [ "$now" = = ]; then
		now=
	elif [ "$before" = = ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	# A subcommand may have options of its own.
	[[ $COMP_CWORD -lt 2 || ${COMP_WORDS[1]} == -* ]] || program+=("${COMP_WORDS[1]}")
	options=$(_dta_options "${program[@]}")
	option=$(awk -F'\t' -v o="$before" 'BEGIN { OFS = FS }
		{ n = split($1, names, /[ ,]+/)
		for (i = 1; i <= n; i++) if (names[i] == o && $2) print o, $2, $3 }' \
		<<<"$options")
	if [ "$option" ]; then
		words=$(IFS=$'\t' && _dta_value "$1" $option)
	elif [[ $now == -* ]]; then
		words=$(cut -f1 <<<"$options" | tr -d ,)
	elif [ "$COMP_CWORD" = 1 ]; then
		words=$(_dta_verbs "$1")
	elif [[ "${1##*/} $before" =~ ^dta-dump\ (region|digest|serve)$ ]]; then
		words=$(_dta_regions)
	fi
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$now")
}

complete -o default -F _dta "${BASH_SOURCE##*/}"
