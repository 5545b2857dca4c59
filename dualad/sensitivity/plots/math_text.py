"""Names with dollar signs in pictures: formulas where they are ones, else as they are written."""

from __future__ import annotations

from typing import Any

from ..extras import extra

__all__ = ["make_drawable"]


def make_drawable(figure: Any) -> None:
    """Take formulas that matplotlib cannot read as plain text; it would refuse to draw them."""
    for text in figure.findobj(extra("matplotlib.text").Text):
        if "$" in text.get_text():
            text.set_text(literal(text.get_text()))
    for panel in figure.axes:
        for axis in (panel.xaxis, panel.yaxis):
            formatter = axis.get_major_formatter()
            if isinstance(formatter, extra("matplotlib.ticker").FuncFormatter):
                # Names beside ticks are made anew with each drawing.
                axis.set_major_formatter(lambda x, at, named=formatter: literal(named(x, at)))


def literal(text: str) -> str:
    r"""The text, with its dollar signs escaped if what they enclose is no formula.

    >>> literal("$k_1$"), literal(r"$\foo$")
    ('$k_1$', '\\$\\foo\\$')
    """
    if not extra("matplotlib.cbook").is_math_text(text):
        return text
    try:
        extra("matplotlib.mathtext").MathTextParser("path").parse(text)
    except (ValueError, RuntimeError):
        return text.replace("$", r"\$")
    return text
