"""Markdown pages as programs: their Python blocks in order, and their links."""

import doctest
import re
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def python_blocks(page: Path) -> list[tuple[int, str]]:
    """The Python blocks of a page, each with the number of lines above it."""
    text = page.read_text()
    return [(text.count("\n", 0, m.start(1)), m.group(1)) for m in BLOCK.finditer(text)]


def run(page: Path) -> dict:
    """Run all blocks in one namespace: sessions with prompts as doctests, others as they are."""
    namespace: dict = {"__name__": page.stem}
    for above, code in python_blocks(page):
        if code.startswith(">>>"):
            run_session(page, above, code, namespace)
        else:
            exec(compile("\n" * above + code, str(page), "exec"), namespace)
    return namespace


def run_session(page: Path, above: int, code: str, namespace: dict) -> None:
    session = doctest.DocTestParser().get_doctest(code, namespace, page.name, str(page), above)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    result = runner.run(session, out=report.append, clear_globs=False)
    namespace.update(session.globs)
    assert not result.failed, "".join(report)


def broken_links(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere, anchors included."""
    links = LINK.findall(CODE.sub("", page.read_text()))
    return [link for link in links if "://" not in link and not _leads_somewhere(page, link)]


def _leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (page.parent / path).resolve() if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as the usual hosts of Markdown make them."""
    headings = HEADING.findall(re.sub(r"^```.*?^```", "", page.read_text(), flags=re.S | re.M))
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in headings}


def tables(page: Path) -> list[list[dict[str, str]]]:
    """The tables of a page: a list of rows, each cell under the name of its column."""
    rows = [[]]
    for line in page.read_text().splitlines():
        if line.startswith("|"):
            rows[-1].append([c.strip() for c in re.split(r"(?<!\\)\|", line.strip().strip("|"))])
        elif rows[-1]:
            rows.append([])
    return [[dict(zip(t[0], row, strict=True)) for row in t[2:]] for t in rows if t]
