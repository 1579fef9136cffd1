"""Curves of the objective's distance from the best one seen, over seconds of training: one SVG for each cell."""

import math

WIDTH, HEIGHT, LEFT, BELOW = 460, 260, 60, 36


def draw(folder, cells):
    folder.mkdir(parents=True, exist_ok=True)
    for cell in cells:
        if not cell or len(cell["ladder"]) < 2:
            continue
        best = min([cell["peer_objective"], *(fit["objective"] for fit in cell["ladder"])])
        points = [(fit["seconds"], fit["objective"] / best - 1) for fit in cell["ladder"]]
        name = "".join(c if c.isalnum() else "-" for c in cell["cell"]).strip("-")
        (folder / f"{name}.svg").write_text(svg(cell, points, (cell["peer_s"], cell["peer_objective"] / best - 1)))


def svg(cell, points, peer):
    floor = 1e-6
    seconds = [t for t, _ in [*points, peer]]
    low, high = math.log10(min(seconds)) - 0.1, math.log10(max(seconds)) + 0.1

    def at(t, gap):
        x = LEFT + (math.log10(t) - low) / (high - low) * (WIDTH - LEFT - 12)
        y = 24 + (1 - (math.log10(max(gap, floor)) + 6) / 6) * (HEIGHT - 24 - BELOW)
        return f"{x:.1f},{min(max(y, 24), HEIGHT - BELOW):.1f}"

    line = " ".join(at(*point) for point in sorted(points))
    x, y = at(*peer).split(",")
    lines = "".join(f'<text x="4" y="{float(at(seconds[0], 10.0**-p).split(",")[1]) + 4:.0f}">1e-{p}</text>' for p in range(0, 7, 2))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11"><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>'
        f'<text x="{LEFT}" y="14">{cell["cell"]}</text>{lines}<path d="M{LEFT},24V{HEIGHT - BELOW}H{WIDTH - 12}" fill="none" stroke="#888"/>'
        f'<polyline points="{line}" fill="none" stroke="#1f6fb2" stroke-width="2"/><circle cx="{x}" cy="{y}" r="4" fill="#c23b22"/><text x="{float(x) - 4:.0f}" y="{float(y) - 8:.0f}" text-anchor="end">{cell["peer"]}</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 18}">{10**low:.2g} s</text><text x="{WIDTH - 12}" y="{HEIGHT - 18}" text-anchor="end">{10**high:.2g} s of training (line: Lineal at falling tolerances)</text></svg>\n'
    )
