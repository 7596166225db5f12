#!/usr/bin/env python3
"""Draws the pipeline of one replica of plan files, one below the other, as SVG.

    timeline.py TITLE=PLAN.json... > picture.svg

Forward ops are light, backward ops dark; idle time is left blank. All plans share one
scale of time, so that their lengths compare.
"""
import json
import sys

WIDTH, LEFT, ROW, GAP = 900, 70, 22, 46
COLOURS = {"F": "#7aa6d8", "B": "#d98a3d", "W": "#8fbf7f"}


def rows(plan):
    return [(f"stage {s['pp']}", s["ops"]) for s in plan["replicas"][0]["stages"]]


def draw(panels):
    longest = max(plan["stats"]["makespan_ps"] for _, plan in panels)
    scale = (WIDTH - LEFT - 10) / longest
    y, out = 0, []
    for title, plan in panels:
        took = plan["stats"]["makespan_ps"]
        out.append(f'<text x="{LEFT}" y="{y + 16}" font-weight="bold">{title}: '
                   f'{took / 1e12:.2f} s</text>')
        y += 24
        for name, ops in rows(plan):
            out.append(f'<text x="4" y="{y + 15}">{name}</text>')
            out.append(f'<rect x="{LEFT}" y="{y}" width="{took * scale:.1f}" height="{ROW - 3}" '
                       'fill="#eeeeee"/>')
            for op in ops:
                start, end = op[-2], op[-1]
                out.append(f'<rect x="{LEFT + start * scale:.2f}" y="{y}" '
                           f'width="{max((end - start) * scale - 0.15, 0.05):.2f}" '
                           f'height="{ROW - 3}" fill="{COLOURS[op[0]]}"/>')
            y += ROW
        y += GAP - 24
    y += 4
    x = LEFT
    for name, colour in (("forward pack", COLOURS["F"]), ("backward pack", COLOURS["B"]),
                         ("idle", "#eeeeee")):
        out.append(f'<rect x="{x}" y="{y - 11}" width="14" height="14" fill="{colour}"/>')
        out.append(f'<text x="{x + 20}" y="{y}">{name}</text>')
        x += 130
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 12}" '
          'font-family="sans-serif" font-size="13">')
    print(f'<rect width="{WIDTH}" height="{y + 12}" fill="#ffffff"/>')
    print("\n".join(out))
    print("</svg>")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    chosen = []
    for argument in sys.argv[1:]:
        title, path = argument.split("=", 1)
        with open(path, encoding="utf-8") as file:
            chosen.append((title, json.load(file)))
    draw(chosen)
