"""Source for people: what runs, in words that stand by themselves."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["readable"]

QUIET = 'with np.errstate(all="ignore"):'
GUARD = re.compile(r"^(\s*)if (.*): return failed\[\d+\]$")
WORDS = (
    (re.compile(r"\bhas_nan\((\w+)\)"), r"np.isnan(\1).any()"),
    (re.compile(r"(?<![.\w])isnan\("), "np.isnan("),
    (re.compile(r"\bsame_value\("), "np.array_equal("),
    (re.compile(r"\bin_long_rows\((np\.\w+), "), r"\1("),
    (re.compile(r"\bsum_(up|as_numpy)\("), "np.add.reduce("),
)


def readable(lines: Sequence[str]) -> list[str]:
    """The lines of a program with NumPy's names alone: guards are assertions."""
    out: list[str] = []
    ends: list[str] = []
    skip = 0
    for k, line in enumerate(lines):
        if skip:
            skip -= 1
            continue
        pad = line[: len(line) - len(line.lstrip())]
        if line == f"{pad}token = ignore()" and lines[k + 1] == f"{pad}try:":
            out.append(pad + QUIET)
            ends.append(pad)
            skip = 1
            continue
        if ends and line == f"{ends[-1]}finally:" and "restore(token)" in lines[k + 1]:
            ends.pop()
            skip = 1
            continue
        out.append(_asked(line))
    return out


def _asked(line: str) -> str:
    guard = GUARD.match(line)
    if guard:
        pad, test = guard.groups()
        holds = test[4:] if test.startswith("not ") else f"not ({test})"
        line = f"{pad}assert {holds}"
    for pattern, word in WORDS:
        line = pattern.sub(word, line)
    return line
