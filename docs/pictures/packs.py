#!/usr/bin/env python3
"""Draws how one long and some short samples are cut into forward and backward packs.

    packs.py > packs.svg
"""
COLOURS = ["#7aa6d8", "#d98a3d", "#8fbf7f", "#b58ac4", "#d9c24a"]
# sample, start, tokens of the slices; then the packs of both passes as lists of slices.
SLICES = [(0, 0, 8), (0, 8, 5), (0, 13, 4), (1, 0, 4), (2, 0, 3), (3, 0, 2), (4, 0, 2)]
FORWARD = [[0], [1], [2], [3], [4, 5, 6]]
BACKWARD = [[2], [1], [0, 3], [4, 5, 6]]
UNIT = 24


def box(x, y, width, text, colour):
    return (f'<rect x="{x}" y="{y}" width="{width - 2}" height="28" rx="3" fill="{colour}"/>'
            f'<text x="{x + 6}" y="{y + 19}">{text}</text>')


def pack_row(title, packs, y, out):
    out.append(f'<text x="4" y="{y + 19}">{title}</text>')
    x = 120
    for i, pack in enumerate(packs):
        tokens = sum(SLICES[s][2] for s in pack)
        out.append(f'<rect x="{x - 3}" y="{y - 4}" width="{tokens * UNIT + 4}" height="36" rx="5" '
                   f'fill="none" stroke="#555555"/>')
        out.append(f'<text x="{x}" y="{y + 48}" fill="#555555">{title[0]}{i}</text>')
        for s in pack:
            sample, start, length = SLICES[s]
            out.append(box(x, y, length * UNIT, f"{sample}@{start}" if sample == 0 else sample,
                           COLOURS[sample]))
            x += length * UNIT
        x += 12


def main():
    out = ['<text x="4" y="31">samples</text>']
    x = 120
    for sample in range(5):
        length = sum(s[2] for s in SLICES if s[0] == sample)
        out.append(box(x, 12, length * UNIT, f"sample {sample}" if length > 3 else sample,
                       COLOURS[sample]))
        x += length * UNIT + 12
    pack_row("Forward", FORWARD, 76, out)
    pack_row("Backward", BACKWARD, 158, out)
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 222" '
          'font-family="sans-serif" font-size="13">')
    print('<rect width="900" height="222" fill="#ffffff"/>')
    print("\n".join(out))
    print("</svg>")


if __name__ == "__main__":
    main()
