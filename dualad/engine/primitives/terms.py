"""The source of a tangent times a partial derivative, and of the sum of such products."""

from __future__ import annotations

import ast
import functools

__all__ = ["divided_once", "is_one", "names_in", "scaled", "summed", "words_in"]

#: Between names and numbers.
BLANKS = dict.fromkeys(map(ord, "()[]{}+-*/%@&|^~<>=!.,:\"'\\\n\r\t"), " ")


#: How formulas begin, after brackets, that may have a minus in front or be 1 / d.
UNKNOWN = {"", " ", "-", "+", "1", "~"}


@functools.lru_cache(maxsize=1024)
def scaled(t: str, text: str) -> tuple[str, str]:
    """Sign and source of t times a partial: 1 / d is one division, a leading minus the sign.

    The product is left as one expression, so that NumPy reuses the memory of its temporaries.
    """
    if text in ("1", "-1"):
        return ("-" if text == "-1" else "+"), t
    if "#" in text:  # a comment would take what follows the formula with it
        text = ast.unparse(ast.parse(text.strip(), mode="eval"))
    if text.lstrip("(")[:1] not in UNKNOWN:
        return "+", f"{t} * ({text})"
    text = text.strip()
    sign, body = _without_minus(ast.parse(text, mode="eval").body)
    if isinstance(body, ast.BinOp) and isinstance(body.op, ast.Div) and is_one(body.left):
        return sign, f"{t} / ({_source(text, body.right)})"
    if sign == "+":
        return sign, f"{t} * ({text})"
    return sign, f"{t} * ({text[1:] if text[0] == '-' else ast.unparse(body)})"


def summed(pairs: list[tuple[str, str]]) -> str:
    """Source of the sum of tangents times partials; with a common denominator one division."""
    return divided_once(pairs) or _joined([scaled(t, text) for t, text in pairs])


def divided_once(pairs: list[tuple[str, str]]) -> str | None:
    """The sum of two terms with a common denominator; None for any others."""
    if len(pairs) != 2 or not all("/" in text for _, text in pairs):
        return None
    bodies = [_without_minus(ast.parse(text, mode="eval").body) for _, text in pairs]
    dens = {_divisor(b) for _, b in bodies}
    if len(dens) != 1 or None in dens:
        return None
    terms = [
        (sign, t if is_one(b.left) else f"{t} * ({ast.unparse(b.left)})")  # type: ignore[attr-defined]
        for (t, _), (sign, b) in zip(pairs, bodies, strict=True)
    ]
    return f"({_joined(terms)}) / ({dens.pop()})"


def _source(text: str, node: ast.expr) -> str:
    """The part of a formula that a node stands for."""
    if text.isascii() and node.lineno == node.end_lineno == 1:
        return text[node.col_offset : node.end_col_offset]
    return ast.unparse(node)


def _divisor(node: ast.expr) -> str | None:
    """The name a formula is divided by, None for another form."""
    quotient = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)
    return node.right.id if quotient and isinstance(node.right, ast.Name) else None  # type: ignore[attr-defined]


def _joined(terms: list[tuple[str, str]]) -> str:
    (sign, first), *rest = terms
    head = first if sign == "+" else f"-({first})"
    return " ".join([head, *(f"{s} {term}" for s, term in rest)])


def words_in(formula: str) -> list[str]:
    """The names and the numbers in a formula, without taking it apart."""
    return formula.translate(BLANKS).split()


def names_in(formula: str) -> set[str]:
    """The names in a formula."""
    return {word for word in words_in(formula) if not word[0].isdigit()}


def is_one(node: ast.expr) -> bool:
    """Whether a formula is the number 1."""
    return isinstance(node, ast.Constant) and node.value == 1


def _without_minus(node: ast.expr) -> tuple[str, ast.expr]:
    """A product without the minus in front of its first factor."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "-", node.operand
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
        sign, left = _without_minus(node.left)
        return sign, ast.BinOp(left, node.op, node.right)
    return "+", node
