#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""flows.py FLOWS PACKETS RATE [LATENCIES]: a capture of FLOWS flows of UDP in
turn, RATE packets a second, on the standard output. With LATENCIES, a file of a
number a line, the capture on the standard input again, the hop latency of whose
packets is theirs: INT by the profile smartnic, of one node and its latency."""
import itertools
import struct
import sys


def frame(flow):
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 44, 0, 0, 64, 17, 0,
                     0x0A000001 + flow, 0x0A800001)
    total = sum(struct.unpack(">10H", ip))
    total = 0xFFFF ^ ((total & 0xFFFF) + (total >> 16))
    return (bytes(12) + b"\x08\x00" + ip[:10] + struct.pack(">H", total) + ip[12:]
            + struct.pack(">HHHH", 1024 + flow % 60000, 5000, 24, 0) + bytes(16))


def make(flows, packets, rate, out):
    out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
    head = struct.Struct("<IIII").pack
    frames = itertools.cycle([frame(f) for f in range(flows)])
    for i, bytes_ in zip(range(packets), frames):
        s, part = divmod(i, rate)
        out.write(head(1700000000 + s, part * 1000000000 // rate,
                       len(bytes_), len(bytes_)) + bytes_)


def put(latencies, capture, out):
    out.write(capture.read(24))
    for latency in open(latencies):
        head = capture.read(16)
        bytes_ = bytearray(capture.read(struct.unpack_from("<I", head, 8)[0]))
        # Ethernet, IPv4, UDP, shim, metadata header, node
        struct.pack_into(">I", bytes_, 14 + 20 + 8 + 4 + 12 + 4, int(latency))
        out.write(head + bytes_)


if len(sys.argv) > 4:
    put(sys.argv[4], sys.stdin.buffer, sys.stdout.buffer)
else:
    make(*map(int, sys.argv[1:4]), sys.stdout.buffer)
