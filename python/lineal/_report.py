"""What a run proves and tells: the certificate, the report, and how a notebook shows them."""

from __future__ import annotations

import html
import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Certificate:
    """How close to the optimum the weights are proven to be.

    ``objective`` is the mean loss plus the penalty at the weights of the model, ``gap`` a proven bound on how much smaller it could be
    (``None`` where there is no dual to prove one), ``words`` says both.
    """

    objective: float | None
    gap: float | None
    converged: bool
    words: str

    def __str__(self) -> str:
        return self.words


class Report(dict):
    """What a run tells, by name: ``passes``, ``solver``, ``curve``, ``warnings``, …, as ``lineal train --json`` prints it."""

    @property
    def curve(self) -> list[dict[str, Any]]:
        """One entry for each pass."""
        return self.get("curve", [])

    def _repr_html_(self) -> str:
        shown = {key: value for key, value in self.items() if not isinstance(value, (list, dict)) and value is not None}
        rows = "".join(f"<tr><th>{html.escape(key)}</th><td>{html.escape(str(value))}</td></tr>" for key, value in shown.items())
        return f"<table>{rows}</table>{curve_svg(self.curve)}"


def parse(report: str, words: str) -> tuple[Report, Certificate]:
    """The report and the certificate of a model."""
    told = Report(json.loads(report))
    return told, Certificate(told.get("objective"), told.get("gap"), bool(told.get("converged")), words)


def curve_svg(curve: list[dict[str, Any]], width: int = 320, height: int = 120) -> str:
    """The duality gap, or else the objective, over the passes, on a logarithmic scale."""
    import math

    for name in ("gap", "gap_estimate", "objective"):
        points = [(point["pass"], point[name]) for point in curve if (point.get(name) or 0) > 0]
        if len(points) >= 2:
            break
    else:
        return ""
    logs = [math.log10(value) for _, value in points]
    low, high = min(logs), max(logs)
    first, last = points[0][0], points[-1][0]
    at = [
        (
            10 + (x - first) / max(last - first, 1) * (width - 20),
            10 + (high - log) / max(high - low, 1e-12) * (height - 30),
        )
        for (x, _), log in zip(points, logs)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
    title = f"{name.replace('_', ' ')} over passes {first} to {last}: {10**logs[0]:.2g} to {10**logs[-1]:.2g}"
    return (
        f'<svg width="{width}" height="{height}" role="img" aria-label="{title}">'
        f'<polyline points="{line}" fill="none" stroke="#36c" stroke-width="1.5"/>'
        f'<text x="10" y="{height - 6}" font-size="11" fill="currentColor">{title}</text></svg>'
    )


def estimator_html(estimator: Any) -> str:
    """An estimator, its certificate and its curve."""
    head = f"<pre>{html.escape(repr(estimator))}</pre>"
    certificate = getattr(estimator, "certificate_", None)
    if certificate is None:
        return head
    return f"{head}<p>{html.escape(str(certificate))}</p>{curve_svg(estimator.report_.curve)}"
