#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""ask.c in Python: ask.py [SOURCE [TABLE [KEY|LIST...]]]"""
import sys

import dta


def main(source=None, table=None, *keys):
    if source is None:
        for c in dta.counters():
            print(c.program, c.pid, c.stage, c.name, c.role, c.value)
        return
    kind = "snapshot" if source.endswith(".snap") else "region"
    d = dta.open(**{kind: source})
    if table is None:
        print("table kind units bytes")
        for t in d:
            print(t.name, t.kind, t.units, t.length)
    elif d[table].kind == "append":
        print("list index epoch value")
        for number in keys:
            entries = d[table].list(int(number))
            for e in entries:
                print(number, e.index, e.epoch, e.text)
            if entries.lost:
                print(entries.lost, "entries lost", file=sys.stderr)
    else:
        print("key answer copies epoch source value")
        for a in d[table].ask(keys):
            print(a.key, a.answer, a.copies, a.epoch or 0, a.source or "-", a.text)


try:
    main(*sys.argv[1:])
except (dta.Error, ValueError) as e:
    sys.exit("ask.py: " + str(getattr(e, "strerror", e)))
