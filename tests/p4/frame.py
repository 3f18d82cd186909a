# SPDX-License-Identifier: BSD-2-Clause
# frame.py - frames for the tests of the P4 programs: captures read and written,
# reports changed.
import struct

ETH, IP, UDP = 14, 20, 8


def read(path):
    data = open(path, 'rb').read()
    order = '<' if data[:4] in (b'\x4d\x3c\xb2\xa1', b'\xd4\xc3\xb2\xa1') else '>'
    at, frames = 24, []
    while at < len(data):
        n = struct.unpack_from(order + 'I', data, at + 8)[0]
        frames.append(data[at + 16:at + 16 + n])
        at += 16 + n
    return frames


def write(path, frames):
    with open(path, 'wb') as out:
        out.write(struct.pack('<IHHiIII', 0xa1b23c4d, 2, 4, 0, 0, 65535, 1))
        for i, f in enumerate(frames):
            out.write(struct.pack('<IIII', 1700000000, i * 1000, len(f), len(f)))
            out.write(f)


def checksum(data):
    s = sum(struct.unpack('>%dH' % (len(data) // 2), data))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff


def with_payload(frame, payload):
    """The frame, of IPv4 and UDP, with another payload: lengths, checksums."""
    ip = bytearray(frame[ETH:ETH + IP])
    udp = bytearray(frame[ETH + IP:ETH + IP + UDP])
    struct.pack_into('>H', ip, 2, IP + UDP + len(payload))
    struct.pack_into('>H', ip, 10, 0)
    struct.pack_into('>H', ip, 10, checksum(bytes(ip)))
    struct.pack_into('>HH', udp, 4, UDP + len(payload), 0)
    return frame[:ETH] + bytes(ip) + bytes(udp) + payload


def payload(frame):
    return frame[ETH + IP + UDP:]
