"""The names that code looks up: of variables, attributes and modules."""

from __future__ import annotations

import dis
import functools
import operator
import re
import types
from collections.abc import Iterable, Iterator
from typing import Any, cast

__all__ = ["codes_in", "imports_in", "in_getter", "loaded_in", "names_in", "variables_in"]

#: What looks attributes and variables up by a text, which then stands in the code as it is.
BY_TEXT = frozenset(
    "getattr hasattr vars __dict__ attrgetter methodcaller globals locals eval exec".split()
)
#: What looks them up by a text that is code.
BY_CODE = frozenset(["eval", "exec"])
WORD = re.compile(r"[^\W\d]\w*")
#: What reads a variable, an attribute or a module, each by its name.
LOADS = frozenset(
    "LOAD_GLOBAL LOAD_NAME LOAD_ATTR LOAD_METHOD LOAD_SUPER_ATTR IMPORT_NAME IMPORT_FROM".split()
)
#: What reads or sets a variable of the module; the number of its name comes after so many bits.
GLOBALS = {
    dis.opmap[name]: bits
    for name, bits in (
        ("LOAD_GLOBAL", 1), ("LOAD_NAME", 0), ("STORE_GLOBAL", 0), ("DELETE_GLOBAL", 0),
        ("LOAD_FROM_DICT_OR_GLOBALS", 0),
    )
    if name in dis.opmap
}  # fmt: skip
IMPORTS = {dis.opmap[name]: 0 for name in ("IMPORT_NAME", "IMPORT_FROM")}


def codes_in(code: types.CodeType) -> list[types.CodeType]:
    """Code, and the functions inside of it."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return [code, *[d for c in inner for d in codes_in(c)]]


def names_in(code: types.CodeType) -> set[str]:
    """The names that code looks up or sets, also in the functions inside of it."""
    codes = codes_in(code)
    # a name that is no identifier was put there by a tool, as pytest does
    return {name for c in codes for name in c.co_names if name.isidentifier()} | by_text(codes)


def loaded_in(code: types.CodeType) -> set[str]:
    """The same without those that it only sets."""
    codes = codes_in(code)
    steps = [step for c in codes for step in dis.get_instructions(c)]
    return {step.argval for step in steps if step.opname in LOADS} | by_text(codes)


def by_text(codes: Iterable[types.CodeType]) -> set[str]:
    """The names that code looks up by texts that stand in it."""
    names = {name for c in codes for name in c.co_names} & BY_TEXT
    texts = [t for c in codes for t in _texts(c.co_consts)] if names else []
    found = {part for t in texts if _is_path(t) for part in t.split(".")}
    return found.union(*map(WORD.findall, texts)) if names & BY_CODE else found


def variables_in(code: types.CodeType) -> set[str]:
    """The variables of its module that code may read or set."""
    codes = codes_in(code)
    if any("modules" in c.co_names for c in codes):  # sys.modules[name].variable
        return names_in(code)
    return by_text(codes).union(*[_named_by(c, False) for c in codes])


def imports_in(code: types.CodeType) -> set[str]:
    """The names of what code imports, and of the modules that it imports it from."""
    return set[str]().union(*[_named_by(c, True) for c in codes_in(code)])


@functools.lru_cache(maxsize=1024)
def _named_by(code: types.CodeType, imports: bool) -> frozenset[str]:
    """The names in imports, or of variables; `dis` takes a hundred times as long."""
    kinds, found, above = IMPORTS if imports else GLOBALS, set(), 0
    for op, arg in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        arg |= above
        above = arg << 8 if op == dis.EXTENDED_ARG else 0
        if op in kinds:
            found.add(code.co_names[arg >> kinds[op]])
    return frozenset(found)


def in_getter(getter: operator.attrgetter | operator.methodcaller) -> Iterator[str]:
    """The names of the attributes that a getter reads."""
    make, given = cast("tuple[Any, tuple]", getter.__reduce__())
    if isinstance(make, functools.partial):  # of a method that is called with keywords
        given = (*make.args, *given)
    for text in _texts(given if isinstance(getter, operator.attrgetter) else given[:1]):
        yield from text.split(".")


def _is_path(text: str) -> bool:
    """Whether a text is a name, or names with points between them."""
    return all(map(str.isidentifier, text.split(".")))


def _texts(constants: Iterable) -> Iterator[str]:
    for x in constants:
        if isinstance(x, str):
            yield x
        elif isinstance(x, (tuple, frozenset)):
            yield from _texts(x)
