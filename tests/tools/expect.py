#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""expect.py - the memory that a capture of DTA/1 reports must leave.

  expect.py REGION CAPTURE [C/N]

Shares no code with the suite: it knows the wire format, the hash families and
the memory layout of the specification (CRCs bit by bit), and where the tables
are from `dta-dump region -o ndjson`. It carries the capture's reports out one
by one, in their order, and compares the tables byte by byte.

Postcards of a path that came one right after the other make one write. When
others are written depends on the translator's cache, so where such a chunk is
shared with another key, its bytes are not judged, but counted.

With C/N, the region is that of collector C of N: it has the reports whose keys
are its own.

Prints what it saw as one line of NDJSON; exit status 1 if a byte differs.
"""
import functools
import json
import mmap
import struct
import subprocess
import sys

SLOT = [0x04C11DB7, 0xF5D8E6B9, 0x38D956C9, 0xBE1BC3BB]
CHECKSUM = 0x1EDC6F41
HOP = [0x1E671611, 0x42BA8535, 0x9459DBBF, 0x617C6A11,
       0x7076CE85, 0x101CECEF, 0x5B8EA50B, 0x676BDD11]
COLLECTOR = 0x8C2BFECF
BLANK = 0xFFFFFFFF
KINDS = {1: "keywrite", 2: "append", 3: "keyinc", 4: "postcard"}


@functools.lru_cache(maxsize=None)
def crc(poly, data):
    """Reflected, initial value and final XOR all ones; a bit at a time."""
    mirror = int(f"{poly:032b}"[::-1], 2)
    reg = 0xFFFFFFFF
    for byte in data:
        reg ^= byte
        for _ in range(8):
            reg = reg >> 1 ^ (mirror if reg & 1 else 0)
    return reg ^ 0xFFFFFFFF


def packets(path):
    """The frames of a pcap file, as far as they were captured."""
    with open(path, "rb") as f:
        data = f.read()
    order = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<",
             b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}[data[:4]]
    assert struct.unpack(order + "I", data[20:24]) == (1,), "not Ethernet"
    at = 24
    while at < len(data):
        size, = struct.unpack_from(order + "I", data, at + 8)
        yield data[at + 16:at + 16 + size]
        at += 16 + size


def ones_sum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def report(frame):
    """The UDP payload of a report, or None."""
    ethertype = int.from_bytes(frame[12:14], "big")
    ip = frame[14:]
    if ethertype == 0x0800 and len(ip) >= 20:
        head, size = (ip[0] & 15) * 4, int.from_bytes(ip[2:4], "big")
        fragment = int.from_bytes(ip[6:8], "big") & 0x3FFF
        if ip[0] >> 4 != 4 or head < 20 or not head <= size <= len(ip) or \
                fragment or ip[9] != 17 or ones_sum(ip[:head]) != 0xFFFF:
            return None
        pseudo = ip[12:20]
    elif ethertype == 0x86DD and len(ip) >= 40:
        head, size = 40, 40 + int.from_bytes(ip[4:6], "big")
        if ip[0] >> 4 != 6 or size > len(ip) or ip[6] != 17:
            return None
        pseudo = ip[8:40]
    else:
        return None
    udp = ip[head:size]
    if len(udp) < 8 or int.from_bytes(udp[2:4], "big") != 40040:
        return None
    size = int.from_bytes(udp[4:6], "big")
    if not 8 <= size <= len(udp):
        return None
    udp = udp[:size]
    pseudo += struct.pack(">HH", 17, size)
    # IPv6 without a UDP checksum is a report, too (RFC 6936).
    if any(udp[6:8]) and ones_sum(pseudo + udp) != 0xFFFF:
        return None
    return udp[8:]


class Path:
    """Postcards of a key that are not written yet."""
    def __init__(self):
        self.hops, self.length, self.copies = {}, 0, 0


class Table:
    def __init__(self, g):
        self.g = g
        self.memory = bytearray(g["length"])
        self.counts = [0] * (g["lists"] or 0)
        self.paths = {}      # by key
        self.last = None     # the key of the last postcard
        self.loose = set()   # keys whose writes the cache decides about
        self.users = {}      # chunk: its keys

    def put(self, at, data):
        self.memory[at:at + len(data)] = data

    def units(self, key, copies):
        for n in range(copies or self.g["copies"]):
            yield crc(SLOT[n], key) % self.g["units"] * self.g["stride"]

    def keywrite(self, key, data, copies):
        if len(data) != self.g["value_length"]:
            return False
        slot = struct.pack(">I", crc(CHECKSUM, key)) + data
        slot = slot.ljust(self.g["stride"], b"\0")
        for at in self.units(key, copies):
            self.put(at, slot)
        return True

    def keyinc(self, key, data, copies):
        if len(data) != 8:
            return False
        for at in self.units(key, copies):
            old, = struct.unpack_from("=Q", self.memory, at)
            new = old + int.from_bytes(data, "big") & (1 << 64) - 1
            struct.pack_into("=Q", self.memory, at, new)
        return True

    def append(self, key, data, _):
        g, size = self.g, self.g["value_length"]
        number = int.from_bytes(key, "big")
        if not data or len(data) % size or number >= g["lists"]:
            return False
        for i in range(0, len(data), size):
            entry = self.counts[number] % g["units"]
            self.put((number * g["units"] + entry) * g["stride"],
                     data[i:i + size].ljust(g["stride"], b"\0"))
            self.counts[number] += 1
        struct.pack_into(">Q", self.memory, g["heads"] - g["offset"] +
                         8 * number, self.counts[number])
        return True

    def postcard(self, key, data, copies, hop, length):
        g = self.g
        if len(data) != 4 or max(hop + 1, length) > g["hops"] or \
                (length and hop >= length) or \
                int.from_bytes(data, "big") == BLANK:
            return False
        if key in self.paths and self.last != key:
            self.loose.add(key)
        self.last = key
        path = self.paths.setdefault(key, Path())
        path.hops[hop] = int.from_bytes(data, "big")
        path.length = max(path.length, length)
        path.copies = max(path.copies, copies or g["copies"])
        if all(h in path.hops for h in range(path.length or g["hops"])):
            self.write_path(key, path, range(g["hops"]))
            self.put_zero(key, path)
            del self.paths[key]
        return True

    def write_path(self, key, path, hops):
        for at in self.units(key, path.copies):
            self.users.setdefault(at, set()).add(key)
            for h in hops:
                entry = crc(HOP[h], key) ^ path.hops.get(h, BLANK)
                self.put(at + 4 * h, struct.pack(">I", entry))

    def put_zero(self, key, path):
        size = 4 * self.g["hops"]
        for at in self.units(key, path.copies):
            self.put(at + size, bytes(self.g["stride"] - size))

    def finish(self):
        """What the cache still holds; returns the chunks not to be judged."""
        for key, path in self.paths.items():
            self.loose.add(key)
            known = range(path.length, self.g["hops"]) if path.length else ()
            self.write_path(key, path, sorted({*path.hops, *known}))
        return [at for at, keys in self.users.items()
                if len(keys) > 1 and keys & self.loose]


def carry_out(tables, payload, who):
    """Whether a report was good, and this collector's."""
    if len(payload) < 8 or payload[0] >> 4 != 1:
        return False
    kind, copies = KINDS.get(payload[0] & 15), payload[1] & 15
    size, hops, number = payload[2], payload[3], payload[4] << 8 | payload[5]
    key, data = payload[8:8 + size], payload[8 + size:]
    table = tables.get(number)
    if not table or table.g["kind"] != kind or copies > 4 or \
            len(key) != size or size != table.g["key_length"]:
        return False
    if crc(COLLECTOR, key) % who[1] != who[0]:
        return False
    if kind == "postcard":
        return table.postcard(key, data, copies, hops >> 4, hops & 15)
    return getattr(table, kind)(key, data, copies)


def main(region, capture, *more):
    who = [0, 1]
    for text in more:
        if "/" in text:
            who = [int(n) for n in text.split("/")]
    rows = subprocess.run(
        ["dta-dump", "region", region, "--no-load", "-o", "ndjson"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    tables = {g["id"]: Table(g) for g in map(json.loads, rows)}
    seen = {"packets": 0, "reports": 0, "stored": 0, "bytes": 0, "chunks": 0,
            "unjudged": 0, "different": 0}
    for frame in packets(capture):
        payload = report(frame)
        seen["packets"] += 1
        seen["reports"] += payload is not None
        seen["stored"] += payload is not None and carry_out(tables, payload,
                                                               who)
    for table in tables.values():
        g = table.g
        unjudged = table.finish()
        with open(g["path"], "rb") as f, \
                mmap.mmap(f.fileno(), g["size"], access=mmap.ACCESS_READ) as m:
            got = bytearray(m[g["offset"]:g["offset"] + g["length"]])
        for at in unjudged:
            got[at:at + g["stride"]] = table.memory[at:at + g["stride"]]
        seen["bytes"] += len(table.memory) - table.memory.count(0)
        seen["chunks"] += len(table.users)
        seen["unjudged"] += len(unjudged)
        if got != table.memory:
            wrong = [i for i, pair in enumerate(zip(got, table.memory))
                     if pair[0] != pair[1]]
            seen["different"] += len(wrong)
            print(f"{g['name']}: {len(wrong)} bytes differ, the first at "
                  f"{wrong[0]}", file=sys.stderr)
    print(json.dumps(seen))
    return seen["different"] > 0


if __name__ == "__main__":
    if not 3 <= len(sys.argv) <= 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
