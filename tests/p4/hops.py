# SPDX-License-Identifier: BSD-2-Clause
# hops.py REPORTS WORDS: of the last report of a capture whether E is set (hops
# exceeded), then each hop's node and latency (the first and the third word of its
# metadata), a line each.
import struct
import sys

import frame

f = frame.read(sys.argv[1])[-1]
words = int(sys.argv[2])
ip = f[frame.ETH + frame.IP + frame.UDP + 8 + 4:]  # behind group and report
shim = ip[20 + (8 if ip[9] == 17 else 20):]
stack = shim[16:4 + 4 * shim[1]]
print('E', shim[4] >> 2 & 1)
for at in range(0, len(stack), 4 * words):
    node, _, latency = struct.unpack_from('>III', stack, at)
    print(node, latency)
