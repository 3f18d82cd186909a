#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""matrix.py - what a responder does with every kind of frame.

  layout                            a layout with a table for each case
  play TICKET LOCAL REMOTE OUT [later]
                                    sends the cases' frames to a guest; OUT: its
                                    answers, as text; later: the frames for
                                    when receives were posted again
  pcap TICKET FILE [CASE...]        the frames of some cases (of those that
                                    run out of no receives) to a capture
  answers TICKET FILE...            the answers of captures, as text
  check TICKET ANSWERS REGION MEMORY [later]
                                    judges a responder: its answers, and the
                                    bytes of its tables (MEMORY: ndjson of
                                    dta-dump region)

Each case has a table, and so a queue pair, of its own: none disturbs another.
A line of answers: CASE, then for each answer its syndrome (ack, nak60, nak61,
nak62, rnr), PSN from the first, and for atomics the old value. An ack before
the first request was carried out (MSN 0) has the PSN of none: soft-RoCE says
0xffffff, whatever it expects, our responder the one before the first.
"""
import json
import struct
import sys
import time

from roce import (ATOMIC_ACK, RC_ADD, RC_WRITE, RC_WRITE_IMM, UC_WRITE,
                  UC_WRITE_IMM, Switch, Ticket, answer, frame, read_pcap,
                  write_pcap)

LENGTH = 2048  # of each table
RECEIVES = 2   # posted on each queue pair
OTHER_IP, OTHER_MAC = "10.0.0.99", "02:00:00:00:00:99"


def B(c, n=8):
    return c.encode() * n


class Case:
    """kind: rc, uc (Key-Write tables), add (counters), list (Append).
    frames: arguments of frame(). answers, memory {offset: bytes}: expected.
    later: frames, answers and memory once receives were posted again."""

    def __init__(self, name, kind, frames, answers, memory, later=None):
        self.name, self.kind, self.frames = name, kind, frames
        self.answers, self.memory, self.later = answers, memory, later


def f(opcode, psn, offset=0, data=b"", **k):
    return (opcode, psn, offset, data, k)


def w(psn, c="a", offset=0, **k):
    return f(RC_WRITE, psn, offset, B(c), **k)


def u(psn, c="a", offset=0, **k):
    return f(UC_WRITE, psn, offset, B(c), **k)


def add(psn, n, offset=0, **k):
    return f(RC_ADD, psn, offset, operands=(n, 0), **k)


def q(n):
    return struct.pack("=Q", n)


CASES = [
    # RC writes
    Case("write", "rc", [w(0)], ["ack 0"], {0: B("a")}),
    Case("no-ack-req", "rc", [w(0, ack=0)], [], {0: B("a")}),
    Case("lengths", "rc",
         [f(RC_WRITE, i, 100 * i, B("a", n))
          for i, n in enumerate((1, 2, 3, 5, 64))],
         [f"ack {i}" for i in range(5)],
         {100 * i: B("a", n) for i, n in enumerate((1, 2, 3, 5, 64))}),
    Case("whole-mtu", "rc", [f(RC_WRITE, 0, 0, B("a", 1024))], ["ack 0"],
         {0: B("a", 1024)}),
    Case("gap", "rc",
         [w(1, "b"), w(2, "c"), w(1, "d"), w(0, "a"), w(1, "e", 8)],
         ["nak60 0", "ack 0", "ack 1"], {0: B("a"), 8: B("e")}),
    Case("sixth-lost", "rc",
         [w(i, chr(97 + i), 8 * i) for i in range(20) if i != 5],
         [f"ack {i}" for i in range(5)] + ["nak60 5"],
         {8 * i: B(chr(97 + i)) for i in range(5)}),
    Case("go-back", "rc",
         [w(i, "a", 8 * i) for i in range(6) if i != 2] +
         [w(i, "b", 8 * i) for i in range(2, 6)],
         ["ack 0", "ack 1", "nak60 2"] + [f"ack {i}" for i in range(2, 6)],
         {0: B("a", 16), 16: B("b", 32)}),
    Case("duplicate", "rc", [w(0), w(1, "b", 8), w(0, "c"), w(2, "d", 16)],
         ["ack 0", "ack 1", "ack 1", "ack 2"],
         {0: B("a"), 8: B("b"), 16: B("d")}),
    Case("half-way-gap", "rc", [w(0), w(0x900000, "b")], ["ack 0", "ack 0"],
         {0: B("a")}),
    Case("half-way-first", "rc", [w(0x900000, "b"), w(0)], ["ack none", "ack 0"],
         {0: B("a")}),
    Case("wrap", "rc", [w(i, chr(97 + i), 8 * i) for i in range(8)],
         [f"ack {i}" for i in range(8)],
         {8 * i: B(chr(97 + i)) for i in range(8)}),
    Case("bad-rkey", "rc", [w(0, "a", rkey=0x1BADBAD), w(0, "b"), w(1, "c")],
         ["nak62 0"], {}),
    Case("past-end", "rc", [w(0, "a", LENGTH - 7), w(0, "b")], ["nak62 0"], {}),
    Case("before-start", "rc", [w(0, "a", -1), w(0, "b")], ["nak62 0"], {}),
    Case("last-bytes", "rc", [w(0, "a", LENGTH - 8)], ["ack 0"],
         {LENGTH - 8: B("a")}),
    Case("nothing", "rc", [w(0), f(RC_WRITE, 1, 0, b"", rkey=0x1BADBAD),
                           f(RC_WRITE, 2, 5000, b"")],
         ["ack 0", "ack 1", "ack 2"], {0: B("a")}),
    Case("address-wraps", "rc", [w(0, "a", 2**64 - 2**40), w(0, "b")],
         ["nak62 0"], {}),
    Case("length-above", "rc", [w(0, "a", dlen=12), w(0, "b")], ["nak61 0"],
         {}),
    Case("length-below", "rc", [w(0, "a", dlen=4), w(0, "b")], ["nak61 0"], {}),
    Case("above-mtu", "rc", [f(RC_WRITE, 0, 0, B("a", 1028)), w(0, "b")],
         ["nak61 0"], {}),
    Case("bad-pad", "rc",
         [f(RC_WRITE, 0, 0, B("a", 5), pad=0, padding=3), w(0, "b")],
         ["nak61 0"], {}),
    # RC atomics
    Case("fetch-add", "add", [add(0, 5), add(1, 2**64 - 1), add(2, 7, 8)],
         ["atomic 0 0", "atomic 1 5", "atomic 2 0"], {0: q(4), 8: q(7)}),
    Case("add-again", "add", [add(0, 5), add(1, 6), add(0, 5), add(2, 1)],
         ["atomic 0 0", "atomic 1 5", "atomic 0 0", "atomic 2 11"],
         {0: q(12)}),
    Case("add-unaligned", "add", [add(0, 5, 4), add(0, 1)], ["nak61 0"], {}),
    Case("add-bad-rkey", "add", [add(0, 5, rkey=0x1BADBAD), add(0, 1)],
         ["nak62 0"], {}),
    Case("add-past-end", "add", [add(0, 5, LENGTH), add(0, 1)], ["nak62 0"],
         {}),
    Case("add-gap", "add", [add(0, 1), add(2, 2), add(1, 4)],
         ["atomic 0 0", "nak60 1", "atomic 1 1"], {0: q(5)}),
    Case("many-atomics", "add", [add(i, 1) for i in range(16)] +
         [add(i, 1) for i in range(16)],
         [f"atomic {i} {i}" for i in range(16)] * 2, {0: q(16)}),
    Case("no-atomics", "list", [add(0, 5), w(0, "b")], ["nak61 0"], {}),
    # Immediates; RECEIVES are posted
    Case("immediate", "rc",
         [f(RC_WRITE_IMM, 0, 0, B("a"), imm=0x00010002),
          f(RC_WRITE_IMM, 1, 8, B("b"), imm=0x00010003, se=1)],
         ["ack 0", "ack 1"], {0: B("a"), 8: B("b")}),
    Case("rnr", "rc",
         [f(RC_WRITE_IMM, i, 8 * i, B(chr(97 + i)), imm=i) for i in range(3)],
         ["ack 0", "ack 1", "rnr 2"], {0: B("a"), 8: B("b")},
         later=([f(RC_WRITE_IMM, 2, 16, B("c"), imm=2)], ["ack 2"],
                {0: B("a"), 8: B("b"), 16: B("c")})),
    # What the frame may look like
    Case("any-flags", "rc",
         [w(0, "a", migreq=0), w(1, "b", 8, se=1), w(2, "c", 16, resv7=0x7F),
          w(3, "d", 24, resv6=0xFF), w(4, "e", 32, tos=0xFF, ttl=1),
          w(5, "f", 40, sport=1), w(6, "g", 48, udp_sum=1),
          w(7, "h", 56, tail=b"tail"), w(8, "i", 64, frag=0, ip_id=77),
          w(9, "j", 72, src_mac=OTHER_MAC), w(10, "k", 80, pkey=0x7FFF)],
         [f"ack {i}" for i in range(11)],
         {8 * i: B(chr(97 + i)) for i in range(11)}),
    Case("bad-icrc", "rc", [w(0, "a", bad_icrc=1), w(0, "b")], ["ack 0"],
         {0: B("b")}),
    Case("bad-pkey", "rc", [w(0, "a", pkey=0x1234), w(0, "b")], ["ack 0"],
         {0: B("b")}),
    Case("bad-tver", "rc", [w(0, "a", tver=1), w(0, "b")], ["ack 0"],
         {0: B("b")}),
    Case("no-such-qp", "rc", [w(0, "a", qpn=0xABCDEF)], [], {}),
    Case("stranger", "rc", [w(0, "a", src=OTHER_IP), w(0, "b")], ["ack 0"],
         {0: B("b")}),
    Case("other-mac", "rc", [w(0, "a", dst_mac=OTHER_MAC), w(0, "b")],
         ["ack 0"], {0: B("b")}),
    Case("other-port", "rc", [w(0, "a", dport=4792), w(0, "b")], ["ack 0"],
         {0: B("b")}),
    Case("uc-to-rc", "rc", [u(0, "a"), w(0, "b")], ["ack 0"], {0: B("b")}),
    Case("cut-short", "rc", [("cut", 10, w(0, "a")), w(0, "b")], ["ack 0"],
         {0: B("b")}),
    # UC
    Case("uc-write", "uc", [u(0), u(1, "b", 8)], [], {0: B("a"), 8: B("b")}),
    Case("uc-gap", "uc", [u(0), u(7, "b", 8), u(0x900000, "c", 16)], [],
         {0: B("a"), 8: B("b"), 16: B("c")}),
    Case("uc-again", "uc", [u(1), u(1, "b"), u(0, "c", 8)], [],
         {0: B("b"), 8: B("c")}),
    Case("uc-bad-rkey", "uc", [u(0, rkey=0x1BADBAD), u(1, "b", 8)], [],
         {8: B("b")}),
    Case("uc-past-end", "uc", [u(0, "a", LENGTH - 7), u(1, "b")], [],
         {0: B("b")}),
    Case("uc-bad-icrc", "uc", [u(0, bad_icrc=1), u(1, "b", 8)], [],
         {8: B("b")}),
    Case("uc-atomic", "uc", [add(0, 5), u(0, "b", 8)], [], {8: B("b")}),
    Case("rc-to-uc", "uc", [w(0), u(0, "b", 8)], [], {8: B("b")}),
    Case("uc-immediate", "uc",
         [f(UC_WRITE_IMM, i, 8 * i, B(chr(97 + i)), imm=i) for i in range(3)] +
         [u(3, "d", 24)],
         [], {0: B("a"), 8: B("b"), 24: B("d")},
         later=([f(UC_WRITE_IMM, 4, 32, B("e"), imm=4)], [],
                {0: B("a"), 8: B("b"), 24: B("d"), 32: B("e")})),
]
PROBE = "probe"  # what is answered last: all before it is done


def layout():
    kinds = {
        "rc": "kind = keywrite\nkey = u32\nvalue = 4\nslots = 256",
        "uc": "kind = keywrite\nkey = u32\nvalue = 4\nslots = 256\nqp = uc",
        "add": "kind = keyinc\nkey = u32\nslots = 256",
        # 255 entries and a count: 2048 bytes, too
        "list": "kind = append\nvalue = 8\nring = 255\nlists = 1\nbatch = 1",
    }
    for i, c in enumerate(CASES + [Case(PROBE, "rc", [], [], {})]):
        print(f"[{c.name}]\nid = {i + 1}\n{kinds[c.kind]}\n")


def make(ticket, name, what):
    if what[0] == "cut":
        return make(ticket, name, what[2])[:-what[1]]
    opcode, psn, offset, data, k = what
    return frame(ticket, name, opcode, psn, offset, data, **k)


def frames_of(ticket, cases):
    return [make(ticket, c.name, x) for c in cases for x in c.frames]


def later_frames_of(ticket):
    return [make(ticket, c.name, x) for c in CASES if c.later
            for x in c.later[0]]


def text_of(ticket, a, table):
    psn = (a.psn - table["psn"]) % 2**24
    if a.opcode == ATOMIC_ACK:
        return f"atomic {psn} {a.old}"
    kind = a.syndrome >> 5
    name = "ack" if a.syndrome == 0x1F else "rnr" if kind == 1 else \
        f"nak{a.syndrome:02x}"
    return f"{name} none" if name == "ack" and not a.msn else f"{name} {psn}"


def by_case(ticket, answers):
    name_of = {t["qpn"]: name for name, t in ticket.tables.items()}
    out = {c.name: [] for c in CASES}
    for a in answers:
        name = name_of.get(a.qpn, "?")
        if name != PROBE:
            out.setdefault(name, []).append(
                text_of(ticket, a, ticket.tables[name]))
    return out


def put(path, out):
    with open(path, "w", encoding="ascii") as f_:
        for name, lines in out.items():
            f_.write(f"{name}: {', '.join(lines)}\n")


def play(ticket, local, remote, out, later=False):
    s = Switch(local, remote)
    probe = ticket.tables[PROBE]["qpn"]
    wanted = sum(len(c.later[1] if c.later else []) for c in CASES) if later \
        else sum(len(c.answers) for c in CASES)
    s.send(later_frames_of(ticket) if later else frames_of(ticket, CASES))
    s.send([frame(ticket, PROBE, RC_WRITE, int(later), 0, B("p"))])
    ok = s.wait(lambda: any(a.qpn == probe for a in s.answers))
    s.wait(lambda: len(s.answers) > wanted, 2)
    time.sleep(0.05)  # answers too many would come now
    s.take()
    s.close()
    put(out, by_case(ticket, s.answers))
    if not ok:
        print("the probe was not answered", file=sys.stderr)
    return 0 if ok else 1


def check(ticket, answers, region, memory, later=False):
    with open(answers, encoding="ascii") as f_:
        got = dict(line.rstrip("\n").split(": ") for line in f_)
    with open(memory, encoding="ascii") as f_:
        rows = {r["name"]: r for r in map(json.loads, f_)}
    with open(region, "rb") as f_:
        data = f_.read()
    bad = 0
    for c in CASES:
        answers_, memory_ = c.answers, c.memory
        if later:
            answers_, memory_ = c.later[1:] if c.later else ([], c.memory)
        want = ", ".join(answers_)
        have = got.pop(c.name, "")
        if have != want:
            bad += 1
            print(f"{c.name}: answers: wanted {want!r}, got {have!r}")
        r = rows[c.name]
        have = data[r["offset"]:r["offset"] + r["length"]]
        mem = bytearray(r["length"])
        for at, bytes_ in memory_.items():
            mem[at:at + len(bytes_)] = bytes_
        if have != bytes(mem):
            bad += 1
            where = [i for i, (x, y) in enumerate(zip(have, mem)) if x != y]
            print(f"{c.name}: memory: {len(have)} bytes, {len(where)} differ, "
                  f"from {where[:1]}")
    for name, line in got.items():
        if line:
            bad += 1
            print(f"{name}: answers nobody asked for: {line}")
    print(f"{len(CASES)} cases, {bad} findings")
    return 1 if bad else 0


def main():
    what, args = sys.argv[1], sys.argv[2:]
    if what == "layout":
        layout()
        return 0
    ticket, args = Ticket(args[0]), args[1:]
    later = args[-1] == "later"
    if what == "play":
        return play(ticket, args[0], args[1], args[2], later)
    if what == "pcap":
        cases = [c for c in CASES if c.name in args[1:] or
                 not args[1:] and not c.later]
        write_pcap(args[0], frames_of(ticket, cases))
        return 0
    if what == "answers":
        got = [answer(x) for path in args for x in read_pcap(path)]
        put("/dev/stdout", by_case(ticket, filter(None, got)))
        return 0
    return check(ticket, *args[:3], later)


sys.exit(main())
