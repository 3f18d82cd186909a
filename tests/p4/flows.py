# SPDX-License-Identifier: BSD-2-Clause
# flows.py IN OUT: of a capture of TCP and UDP over IPv4 a packet of each flow,
# of flows that have rows of their own in int_node's registers (cards.p4). Prints
# each flow's row and its key in text.
import socket
import struct
import sys
import zlib

import frame

ROWS = 1024  # SWITCH_CARD_ROWS
seen, out = {}, []
for f in frame.read(sys.argv[1]):
    ip = f[frame.ETH:frame.ETH + frame.IP]
    ports = f[frame.ETH + frame.IP:frame.ETH + frame.IP + 4]
    row = zlib.crc32(ip[12:20] + ports + ip[9:10]) % ROWS
    if row in seen:
        continue
    src, dst = (socket.inet_ntoa(ip[at:at + 4]) for at in (12, 16))
    seen[row] = '%s:%d>%s:%d/%s' % (src, struct.unpack('>H', ports[:2])[0], dst,
                                    struct.unpack('>H', ports[2:])[0],
                                    {6: 'tcp', 17: 'udp'}[ip[9]])
    out.append(f)
frame.write(sys.argv[2], out)
for row, flow in seen.items():
    print(row, flow)
