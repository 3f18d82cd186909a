#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# Generators of probes.
. "${BASH_SOURCE%/*}/common.bash"

figure "INT-label Fig. 20" "generators of probes"
axes "k of the fat tree" "devices"
for scheme in label:INT-label hula:HULA int-path:INT-path pingmesh:Pingmesh; do
	for k in 4 6 8 10 12 14 16; do
		point "${scheme#*:}" $k "$(sim -a $k -S "${scheme%:*}" --rate 1 \
			-d 1ms -T 1ms | jq .generators)"
	done
done
note "The paper has the curves only. INT-label 0; HULA the ToR switches, k^2/2; INT-path the switches of odd degree, k^2/2 where k/2 is odd, else 1, computed from the trails; Pingmesh the hosts, k^3/4. The paper adds the ToR switches to these, and its INT-path differs from ours by a factor: what it counts as odd vertices it does not say."
