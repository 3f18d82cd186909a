#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""page.py DIR >PAGE: the figures that scripts told to DIR/*.tsv (see lib.sh),
as one HTML page that needs nothing else: pictures, tables, commands, numbers."""

import datetime
import html
import math
import pathlib
import platform
import re
import sys
import textwrap

PAPERS = {
    "dta": "Direct Telemetry Access (DTA)",
    "dart": "Zero-CPU Collection with Direct Telemetry Access (DART)",
    "smartnic": "A SmartNIC-Accelerated Monitoring Platform for INT",
    "intcollector": "INTCollector",
    "int-label": "INT-label",
}
# Seen on white and on black; none is yellow.
COLOURS = ("#2f73e0 #d63c3c #1f9960 #9a56d6 #c8651b #0e8fa3 #cf3f96 "
           "#7d8590").split()
WIDTH, HEIGHT = 680, 372
LEFT, RIGHT, TOP, BOTTOM = 72, 664, 14, 326


def read(path):
    """Figures of a script: dicts."""
    figures, run = [], {}  # a dict keeps the order, and each once
    for line in path.read_text().splitlines():
        kind, *words = line.split("\t")
        if kind == "figure":
            run = run if not figures else {}
            figures.append({"name": words[0], "title": words[1],
                            "axes": ["", ""], "curves": {}, "row": [],
                            "note": [], "run": run})
        elif kind == "axes":
            figures[-1]["axes"] = words
        elif kind in ("point", "theory", "paper"):
            scheme, x, y = words
            figures[-1]["curves"].setdefault((kind, scheme), []).append(
                (x, float(y)))
        elif kind == "run":
            run[words[0]] = True
        else:
            figures[-1][kind].append(words)
    return figures


def colour(figures):
    """One colour for a scheme in all figures of a paper, if it can be."""
    known, uses = {}, [0] * len(COLOURS)
    for f in figures:
        got = f["colour"] = dict.fromkeys(s for _, s in f["curves"])
        for s in got:
            if s in known and known[s] not in got.values():
                got[s] = known[s]
        for s in got:
            if got[s] is None:
                got[s] = min(range(len(COLOURS)), key=lambda c: (
                    c in got.values(), uses[c], c))
                uses[known.setdefault(s, got[s])] += 1


def number(v):
    """As at an axis: 250k, 1.5M, 10^-5."""
    if v == 0:
        return "0"
    e = math.floor(math.log10(abs(v)) + 1e-9)
    if -4 < e < 5:
        return f"{v:.6g}"
    for unit, at in (("G", 9), ("M", 6), ("k", 3)):
        if at <= e < at + 3:
            return f"{v / 10 ** at:.4g}{unit}"
    m = f"{v / 10 ** e:.3g}"
    return ("" if m == "1" else m + "\u00b7") + "10" + str(e).translate(
        str.maketrans("-0123456789", "\u207b\u2070\u00b9\u00b2\u00b3\u2074"
                      "\u2075\u2076\u2077\u2078\u2079"))


class Axis:
    """Where a value is, and ticks."""

    def __init__(self, values, log, start, end):
        values = [v for v in values if v > 0 or not log] or [1]
        low, high = min(values), max(values)
        if log:
            low, high = math.log10(low), math.log10(high)
            if high - low < 1:
                low, high = low - .15, high + .15
            wide = high - low
            low, high = low - .03 * wide, high + .03 * wide
            steps = (1,) if wide > 4 else (1, 3) if wide > 2 else (1, 2, 5)
            each = math.ceil(wide / 8)
            ticks = [m * 10.0 ** e for e in range(
                math.floor(low), math.ceil(high) + 1) for m in steps
                if e % each == 0]
        else:
            if 0 < low < high / 2 or low == high:
                low = min(low, 0)
            step = 10 ** math.floor(math.log10((high - low or 1) / 4))
            step *= next(m for m in (1, 2, 5, 10)
                         if (high - low) / (step * m) <= 7)
            wide = high - low or 1
            high += .04 * wide
            low -= .04 * wide if low else 0
            ticks = [i * step for i in range(
                math.ceil(low / step - 1e-9), math.floor(high / step) + 1)]
        self.log, self.low, self.high = log, low, high or 1
        self.start, self.end = start, end
        self.ticks = [(t, number(t)) for t in ticks
                      if low - 1e-9 <= (math.log10(t) if log else t) <= high]

    def at(self, v):
        """In pixels; None has no place."""
        if self.log:
            if v <= 0:
                return None
            v = math.log10(v)
        part = (v - self.low) / (self.high - self.low)
        return round(self.start + part * (self.end - self.start), 1)


class Words(Axis):
    """An axis of words."""

    def __init__(self, words, start, end):
        super().__init__([0], False, start, end)
        self.low, self.high = -.5, len(words) - .5
        self.ticks = list(enumerate(words))


def is_number(text):
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def hides(over, under):
    """Whether a curve lies on another one for the most part."""
    below = dict(under)
    near = [abs(y - below[x]) < 3 for x, y in over if x in below]
    return len(near) > 1 and sum(near) > .6 * len(over)


def few(axis, values):
    """Ticks are the values themselves if there is room for them."""
    at = [axis.at(v) for v in values]
    if len(at) <= 12 and None not in at and all(
            b - a > 34 for a, b in zip(at, at[1:])) and all(
            len(number(v)) < 6 for v in values):
        axis.ticks = [(v, number(v)) for v in values]


def svg(f):
    curves, options = f["curves"], f["axes"][2:]
    xs = list(dict.fromkeys(x for c in curves.values() for x, _ in c))
    words = not all(map(is_number, xs))
    if words:
        ax = Words(xs, LEFT, RIGHT)
    else:
        ax = Axis([float(x) for x in xs], "logx" in options, LEFT, RIGHT)
        few(ax, sorted(map(float, xs)))
    ay = Axis([y for c in curves.values() for _, y in c], "logy" in options,
              BOTTOM, TOP)
    room = max(8, int((RIGHT - LEFT) / len(ax.ticks) / 7)) if words else 99
    lines = [textwrap.wrap(t, room) or [""] for _, t in ax.ticks]
    below = 15 * (max(map(len, lines), default=1) - 1)
    out = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT + below}" role="img" '
           f'aria-label="{html.escape(f["name"])}">']
    for t, text in ay.ticks:
        y = ay.at(t)
        out.append(f'<path class="grid" d="M{LEFT} {y}H{RIGHT}"/><text x="'
                   f'{LEFT - 8}" y="{y + 4}" text-anchor="end">{text}</text>')
    for (t, _), text in zip(ax.ticks, lines):
        x = ax.at(t)
        if not words:
            out.append(f'<path class="grid" d="M{x} {TOP}V{BOTTOM}"/>')
        for i, line in enumerate(text):
            out.append(f'<text x="{x}" y="{BOTTOM + 18 + 15 * i}" text-anchor='
                       f'"middle">{html.escape(line)}</text>')
    out.append(f'<path class="frame" d="M{LEFT} {TOP}V{BOTTOM}H{RIGHT}"/>')
    drawn, schemes = [], list(f["colour"])
    order = {"point": 0, "theory": 1, "paper": 2}
    for kind, scheme in sorted(curves, key=lambda k: order[k[0]]):
        aside = (schemes.index(scheme) - (len(schemes) - 1) / 2) * 9 * words
        c = COLOURS[f["colour"][scheme]]
        at = [((ax.at(xs.index(x) if words else float(x)) or 0) + aside,
               ay.at(y), f"{scheme}: {x}, {y:.6g}") for x, y in
              curves[kind, scheme] if ay.at(y) is not None]
        line = [(x, y) for x, y, _ in at]
        if kind != "paper" and not words:
            # What lies on other curves is dashed, so that they are seen; of
            # a closed form, the curve is pale, and the form on it.
            n = sum(hides(line, d) for d in drawn) * (kind == "point")
            dash = f' stroke-dasharray="7 {7 * n}"' if n else ""
            pale = " pale" * (("theory", scheme) in curves)
            out.append(f'<polyline class="{kind}{pale}" stroke="{c}"{dash} '
                       'points="' + " ".join(f"{x},{y}" for x, y in line) +
                       '"/>')
            drawn.append(line)
        for x, y, text in at:
            text = html.escape(text)
            if kind == "paper":
                out.append(f'<rect class="paper" stroke="{c}" x="{x - 5:g}" '
                           f'y="{y - 5:g}" width="10" height="10"><title>'
                           f'{text} (paper)</title></rect>')
            elif kind == "point" or words:
                out.append(f'<circle fill="{c}" cx="{x:g}" cy="{y:g}" r="'
                           f'{4 if words else 2.5}"><title>{text}</title>'
                           '</circle>')
    x, y = (html.escape(a) for a in f["axes"][:2])
    out.append(f'<text x="{(LEFT + RIGHT) / 2}" y="{HEIGHT - 10 + below}" '
               f'text-anchor="middle">{x}</text><text transform="translate(16 '
               f'{(TOP + BOTTOM) / 2}) rotate(-90)" text-anchor="middle">{y}'
               '</text></svg>')
    return "\n".join(out)


def text(t):
    t = html.escape(t, quote=False).replace(" %", "\u00a0%")
    return re.sub("`(.*?)`", r"<code>\1</code>", t)


def table(head, rows):
    rows = [head] + rows
    return "<div class=wide><table>" + "\n".join(
        "<tr>" + "".join(f"<{tag}>{text(c)}</{tag}>" for c in r) + "</tr>"
        for tag, r in zip(["th"] + ["td"] * len(rows), rows)) + "</table></div>"


def numbers(f):
    """All points: a row for each X."""
    kinds = {"point": "", "theory": " (theory)", "paper": " (paper)"}
    columns = [dict(c) for c in f["curves"].values()]
    xs = list(dict.fromkeys(x for c in columns for x in c))
    return table([f["axes"][0]] + [s + kinds[k] for k, s in f["curves"]],
                 [[x] + [f"{c[x]:.6g}" if x in c else "" for c in columns]
                  for x in xs])


def anchor(f):
    return re.sub(r"\W+", "-", f["name"].lower())


def section(f):
    out = [f'<section id="{anchor(f)}"><h3>{text(f["name"])}: '
           f'{text(f["title"])}</h3>']
    if f["curves"]:
        out.append('<p class=key>' + " ".join(
            f'<span><i style="background:{COLOURS[c]}"></i>{text(s)}</span>'
            for s, c in f["colour"].items()) + "</p>" + svg(f))
    if f["row"]:
        out.append(table(["", "paper", "here", "why they differ"], f["row"]))
    out += [f"<p>{text(n[0])}</p>" for n in f["note"]]
    if f["run"]:
        shown = list(f["run"])
        rest = len(shown) - 24
        out.append(f"<details><summary>commands ({len(shown)})</summary><pre>" +
                   html.escape("\n".join(shown[:24])) +
                   (f"\n... and {rest} like these" if rest > 0 else "") +
                   "</pre></details>")
    if f["curves"]:
        out.append("<details><summary>numbers</summary>" + numbers(f) +
                   "</details>")
    return "\n".join(out) + "</section>"


STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #59636e;
	--line: #d8dde3; --paper: #fff }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --soft: #9aa4af;
	--line: #353c44; --paper: #14171b } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink);
	background: var(--paper); max-width: 780px; margin: 2em auto;
	padding: 0 1em }
a { color: inherit }
h2 { margin-top: 3em; border-bottom: 2px solid var(--line) }
h3 { margin: 3em 0 .3em }
svg { width: 100%; height: auto; font: 13px system-ui, sans-serif }
svg text { fill: var(--ink) }
.grid { stroke: var(--line); stroke-width: 1 }
.frame { stroke: var(--soft); fill: none }
polyline { fill: none; stroke-width: 2.2; stroke-linejoin: round }
polyline.pale { opacity: .45 }
polyline.theory { stroke-width: 1.6; stroke-dasharray: 2 3; opacity: 1 }
rect.paper { fill: none; stroke-width: 2 }
.key span { margin-right: 1.4em; white-space: nowrap }
.key i { display: inline-block; width: 1.6em; height: .3em; margin-right: .5em;
	vertical-align: middle }
.key { margin: .3em 0 }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 13.5px; margin: .7em 0 }
td, th { border-bottom: 1px solid var(--line); padding: .25em .8em .25em 0;
	text-align: left; vertical-align: top }
pre { overflow-x: auto; font-size: 12.5px; border-left: 3px solid var(--line);
	padding-left: .8em }
summary { color: var(--soft); cursor: pointer }
"""


def left_out(paper):
    """Figures which software has nothing to say of, and why."""
    path = pathlib.Path(__file__).parent / paper / "left-out.txt"
    if not path.exists():
        return []
    return ["<p>Not made: " + "; ".join(
        map(text, path.read_text().splitlines())) + ".</p>"]


def cpu():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(": ", 1)[1]
    return platform.machine()


def main():
    here = pathlib.Path(sys.argv[1])
    index, body = [], []
    for paper, title in PAPERS.items():
        figures = [f for p in sorted(here.glob(paper + "-*.tsv"))
                   for f in read(p)]
        if not figures:
            continue
        colour(figures)
        sections = [section(f) for f in figures]
        index.append(f"<p><b>{title}</b>: " + ", ".join(
            f'<a href="#{anchor(f)}">{text(f["name"].split(" ", 1)[-1])}</a>'
            for f in figures) + "</p>")
        body += [f"<h2>{title}</h2>"] + left_out(paper) + sections
    today = datetime.date.today().isoformat()
    print(f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Figures</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>{STYLE}</style></head><body>
<h1>Figures of the papers, anew</h1>
<p>Made by <code>make figures</code> on {today}, on {html.escape(cpu())}.
A colour is one scheme: the line with dots is what came out here, squares are the
paper's numbers, as its text or its authors' sheets have them (none is read from a
plot), a dotted line is a closed form. A dashed line lies on another one. Rates and
times are those of this machine.</p>
{chr(10).join(index)}
{chr(10).join(body)}
</body></html>""")


if __name__ == "__main__":
    main()
