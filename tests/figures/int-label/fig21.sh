#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Bandwidth of telemetry by the size of the fat tree.
. "${BASH_SOURCE%/*}/common.bash"

# mbits K SCHEME: on all links; all are to be heard of each 100 ms.
mbits() {
	of '(.label_bandwidth + .probe_bandwidth) / 1e6' "$(sim -a "$1" -t 62500us \
		--rate $(($1 * $1 * $1 * 250)) -d "$(scaled 2000 1200)ms" --warmup 1s \
		--link-rate 100G "${@:2}")"
}

figure "INT-label Fig. 21" "bandwidth of telemetry"
axes "k of the fat tree" "Mbit/s on all links" logy
for ((k = 4; k <= $(scaled 12 8); k += 2)); do
	a=$(mbits $k -S label) hula=$(mbits $k -S hula) path=$(mbits $k -S int-path)
	point "Base A" $k "$a"
	point "Base B" $k "$(mbits $k -S label -b B)"
	point INT $k "$(mbits $k -S int)"
	point HULA $k "$hula"
	point INT-path $k "$path"
	point Pingmesh $k "$(mbits $k -S pingmesh)"
	[ $k = 8 ] || continue
	paper "Base A" 8 "$(calc ".03 * $hula")"
	row "Base A's bandwidth, part of HULA's, k = 8" "3 %" "$(calc "100 * $a / $hula") %" \
		"every byte on every link is counted here"
	row "INT-path's, more than INT-label's" "35 %" "$(calc "100 * ($path / $a - 1)") %" \
		"its probes gather up to 40 labels and carry them along; the paper does not tell how it counts that"
done
note "Probes each 100 ms, labels each 62.5 ms (the ratio of Fig. 9), 1000 packets/s of each host. As in the paper Pingmesh gets worse as the network grows, but takes 10 to 100 times what the paper has, as every host pings every other one. INT, sampled at the ingress once per host and 62.5 ms, takes as much as Base A, but at k = 8 covers $(of .coverage "$(sim -a 8 -S int -t 62500us --rate 128000 -d 2s --warmup 1s)") % of the ports in 100 ms, Base A $(of .coverage "$(sim -a 8 -t 62500us --rate 128000 -d 2s --warmup 1s)") %. The square is 3 % of the HULA that was measured here."
