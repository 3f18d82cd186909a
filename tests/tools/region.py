#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""region.py - an independent reader and writer of regions.

Shares no code with the suite: geometry comes from `dta-dump region -o ndjson`,
hashes are computed bit by bit from the polynomials of the specification.

  keywrite REGION TABLE HEXKEY          the value in each copy's slot, or -
  poke     REGION TABLE HEXKEY VALUE... stores values (hex, - skips) in copies
  count    REGION TABLE HEXKEY COPIES   the least counter
  path     REGION TABLE HEXKEY          values of the first copy's chunk, - blank
  list     REGION TABLE LIST            entries, oldest first
  digest   REGION TABLE                 CRC-32C of the table's bytes
  slot     REGION TABLE HEXKEY COPY     number of the slot (postcard: chunk)
"""
import json
import mmap
import os
import struct
import subprocess
import sys

SLOT = [0x04C11DB7, 0xF5D8E6B9, 0x38D956C9, 0xBE1BC3BB]
CHECKSUM = 0x1EDC6F41
HOP = [0x1E671611, 0x42BA8535, 0x9459DBBF, 0x617C6A11,
       0x7076CE85, 0x101CECEF, 0x5B8EA50B, 0x676BDD11]


def crc(poly, data):
    """Reflected CRC-32, initial value and final XOR all ones."""
    table = []
    mirror = int(f"{poly:032b}"[::-1], 2)
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (mirror if byte & 1 else 0)
        table.append(byte)
    sum_ = 0xFFFFFFFF
    for byte in data:
        sum_ = sum_ >> 8 ^ table[(sum_ ^ byte) & 255]
    return sum_ ^ 0xFFFFFFFF


class Table:
    def __init__(self, region, name, write=False):
        rows = subprocess.run(
            ["dta-dump", "region", region, "--no-load", "-o", "ndjson"],
            check=True, capture_output=True, text=True).stdout.splitlines()
        self.g = next(g for g in map(json.loads, rows) if g["name"] == name)
        fd = os.open(self.g["path"], os.O_RDWR if write else os.O_RDONLY)
        self.mem = mmap.mmap(fd, self.g["size"], access=mmap.ACCESS_WRITE
                             if write else mmap.ACCESS_READ)
        os.close(fd)

    def slot(self, key, copy):
        return crc(SLOT[copy], key) % self.g["units"]

    def at(self, unit):
        return self.g["offset"] + unit * self.g["stride"]

    def copy(self, key, copy):
        at = self.at(self.slot(key, copy))
        sum_, = struct.unpack(">I", self.mem[at:at + 4])
        if sum_ != crc(CHECKSUM, key):
            return None
        return self.mem[at + 4:at + 4 + self.g["value_length"]]

    def poke(self, key, copy, value):
        at = self.at(self.slot(key, copy))
        self.mem[at:at + 4 + len(value)] = \
            struct.pack(">I", crc(CHECKSUM, key)) + value

    def count(self, key, copies):
        return min(struct.unpack_from("=Q", self.mem,
                                      self.at(self.slot(key, c)))[0]
                   for c in range(copies))

    def path(self, key):
        at = self.at(self.slot(key, 0))
        for i in range(self.g["hops"]):
            raw, = struct.unpack_from(">I", self.mem, at + 4 * i)
            value = raw ^ crc(HOP[i], key)
            yield None if value == 0xFFFFFFFF else value

    def entries(self, number):
        g = self.g
        written, = struct.unpack_from(">Q", self.mem, g["heads"] + 8 * number)
        for i in range(max(0, written - g["entries"]), written):
            at = self.at(number * g["units"] + i % g["units"])
            yield self.mem[at:at + g["value_length"]]


def main(verb, region, name, *args):
    table = Table(region, name, verb == "poke")
    if verb == "digest":
        g = table.g
        data = table.mem[g["offset"]:g["offset"] + g["length"]]
        print(f"{crc(CHECKSUM, data):08x}")
        return
    if verb == "list":
        for entry in table.entries(int(args[0])):
            print(entry.hex())
        return
    key = bytes.fromhex(args[0])
    if verb == "keywrite":
        copies = [table.copy(key, c) for c in range(4)]
        print(*["-" if v is None else v.hex() for v in copies])
    elif verb == "poke":
        for c, value in enumerate(args[1:]):
            if value != "-":
                table.poke(key, c, bytes.fromhex(value))
    elif verb == "count":
        print(table.count(key, int(args[1])))
    elif verb == "path":
        print(*["-" if v is None else v for v in table.path(key)])
    elif verb == "slot":
        print(table.slot(key, int(args[1])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:])
