"""Pictures: how many times faster than rg, and what an index costs."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

_COLOURS = {
    "triseek": "#0b6e99",
    "triseek-swept": "#3c93b8",
    "triseek-daemon": "#1f4e5f",
    "triseek-cli": "#67b7d1",
    "csearch": "#c8963e",
    "rgx": "#b5523b",
    "git-grep": "#9a9a9a",
    "zoekt": "#7a5195",
    "rg": "#333333",
}
_BAR = 0.16
"""Height of a bar, in inches; a picture grows with what it shows."""


def draw(corpus: dict[str, Any], folder: Path, name: str) -> list[Path]:
    """Draw all pictures of a corpus, as `name`-….png; returns them."""
    pictures = []
    for group in dict.fromkeys(case["name"].split("/")[0] for case in corpus["cases"]):
        cases = [case for case in corpus["cases"] if case["name"].startswith(group + "/")]
        path = folder / f"{name}-{group}.png"
        if _ratios(f"{name}: {group}", cases, path):
            pictures.append(path)
    path = folder / f"{name}-index.png"
    if _index(corpus, path):
        pictures.append(path)
    return pictures


def _ratios(title: str, cases: list[dict[str, Any]], path: Path) -> bool:
    names = [
        name
        for name in _COLOURS
        if name != "rg" and any("rg_ratio" in case["engines"].get(name, {}) for case in cases)
    ]
    if not names:
        return False
    height = 1.4 + _BAR * len(cases) * (len(names) + 1.5)
    figure, axes = plt.subplots(figsize=(8.5, height), layout="constrained")
    step = 1 / (len(names) + 1.5)
    for place, name in enumerate(names):
        _ratio_bars(axes, cases, name, (place - (len(names) - 1) / 2) * step, step)
    axes.set_xscale("log")
    axes.axvline(1, color=_COLOURS["rg"], linewidth=1)
    axes.set_yticks(range(len(cases)), [case["name"].split("/")[1] for case in cases])
    axes.invert_yaxis()
    axes.margins(x=0.12, y=0.01)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_xlabel("times faster than rg (log scale; left of the line: slower)")
    axes.set_title(title, loc="left", fontweight="bold")
    _finish(axes)
    figure.legend(loc="outside lower center", ncols=len(names), frameon=False, fontsize=8)
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True


def _ratio_bars(
    axes: Axes, cases: list[dict[str, Any]], name: str, offset: float, step: float
) -> None:
    places, ratios = [], []
    for place, case in enumerate(cases):
        ratio = case["engines"].get(name, {}).get("rg_ratio")
        if ratio:
            places.append(place + offset)
            ratios.append(ratio)
    bars = axes.barh(
        places,
        [ratio - 1 for ratio in ratios],
        left=1,
        height=step * 0.9,
        color=_COLOURS[name],
        label=name,
    )
    labels = [f"{ratio:.3g}" for ratio in ratios]
    axes.bar_label(bars, labels, fontsize=6, padding=2, color="#444444")


def _index(corpus: dict[str, Any], path: Path) -> bool:
    builds = corpus["builds"]
    if not builds:
        return False
    names = [name for name in _COLOURS if name in builds]
    columns = (
        ("build, s", [median(b["seconds"] for b in builds[name]) for name in names]),
        ("peak memory, MB", [builds[name][-1]["peak_rss_bytes"] / 1e6 for name in names]),
        (
            "index / text",
            [builds[name][-1]["index_bytes"] / corpus["size_bytes"] for name in names],
        ),
    )
    figure, places = plt.subplots(
        1, 3, figsize=(8.5, 1.2 + 0.3 * len(names)), layout="constrained", sharey=True
    )
    for axes, (title, values) in zip(places, columns, strict=True):
        bars = axes.barh(names, values, color=[_COLOURS[name] for name in names], height=0.65)
        axes.bar_label(bars, [f"{value:.3g}" for value in values], fontsize=7, padding=2)
        axes.set_title(title, fontsize=9, loc="left")
        axes.margins(x=0.22)
        _finish(axes)
    places[0].invert_yaxis()
    figure.suptitle(f"{corpus['name']}: the index", x=0.01, ha="left", fontweight="bold")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True


def _finish(axes: Axes) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8)
