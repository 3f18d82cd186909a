# SPDX-License-Identifier: BSD-2-Clause
# bad.py IN OUT: the reports of a capture (Key-Write, flow4, 4 bytes), and among
# them some of each kind that a translator has to refuse.
import struct
import sys

import frame

good = frame.read(sys.argv[1])
base = good[0]


def report(opcode, flags, key, hop, table, data, number=0, version=1):
    head = struct.pack('>BBBBHH', version << 4 | opcode, flags, len(key), hop, table,
                       number)
    return frame.with_payload(base, head + key + data)


K13, K4 = bytes(range(13)), b'\0\0\0\1'
bad = [
    report(1, 0, K13, 0, 1, b'abcd', version=2),
    report(1, 0, K13, 0, 1, b'abcd', version=0),
    report(5, 0, K13, 0, 1, b'abcd'),
    report(0, 0, K13, 0, 1, b'abcd'),
    report(3, 0, K13, 0, 1, b'abcdefgh'),  # not what the table takes
    report(1, 0, K13, 0, 9, b'abcd'),
    report(1, 0, K4, 0, 1, b'abcd'),
    report(1, 0, K13 + b'x', 0, 1, b'abcd'),
    report(1, 0, K13, 0, 1, b'abc'),
    report(1, 0, K13, 0, 1, b'abcde'),
    report(1, 0, K13, 0, 1, b''),
    report(1, 5, K13, 0, 1, b'abcd'),
    report(1, 15, K13, 0, 1, b'abcd'),
    report(2, 0, b'\0\0\0\2', 0, 2, b'abcd'),
    report(2, 0, b'\x80\0\0\0', 0, 2, b'abcd'),
    report(2, 0, K4, 0, 2, b'abc'),
    report(4, 0, K4, 0x50, 3, b'\0\0\0\1'),
    report(4, 0, K4, 0x06, 3, b'\0\0\0\1'),
    report(4, 0, K4, 0x33, 3, b'\0\0\0\1'),
    report(4, 0, K4, 0x00, 3, b'\xff\xff\xff\xff'),
]
# lengths that do not add up: the key's, UDP's, IP's; a frame cut short
p = bytearray(frame.payload(base))
p[2] = 64
bad.append(frame.with_payload(base, bytes(p)))
cut = bytearray(base)
struct.pack_into('>H', cut, frame.ETH + frame.IP + 4, len(base))
bad.append(bytes(cut))
bad.append(base[:-3])
bad.append(frame.with_payload(base, b'\x11\0\x0d'))
# a wrong IP checksum, a wrong and a right UDP checksum
wrong = bytearray(base)
wrong[frame.ETH + 10] ^= 1
bad.append(bytes(wrong))
wrong = bytearray(base)
struct.pack_into('>H', wrong, frame.ETH + frame.IP + 6, 0x1234)
bad.append(bytes(wrong))
# Ethernet padding behind a report; another port; no IP
bad.append(report(2, 0, K4, 0, 2, b'abcd') + bytes(9))
other = bytearray(base)
struct.pack_into('>H', other, frame.ETH + frame.IP + 2, 40041)
bad.append(bytes(other))
bad.append(base[:12] + b'\x08\x06' + bytes(46))

out = []
for i, b in enumerate(bad):
    out += [good[i % len(good)], b]
frame.write(sys.argv[2], out)
