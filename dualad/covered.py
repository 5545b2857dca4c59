"""What of NumPy is covered: every public name that takes arrays, and what its results carry."""

from __future__ import annotations

import importlib.util
import re
import types
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .covered_by_peers import NEITHER, PEERS, peers_of
from .engine.levels.protocols import plain_rule
from .engine.levels.rules import FUNCTIONS
from .engine.levels.traced import TracedArray
from .numpy.fresh import BY_RULE
from .numpy.functions import __all__ as BY_DROPIN
from .ops.later import load_all
from .ops.methods import REFUSED as REFUSED_METHODS
from .ops.registry import CONSTANT, PREDICATE, RESULTS

__all__ = ["Entry", "coverage", "page"]

DERIVATIVE, REFUSED = "derivative", "refused"
#: What the results of a function carry.
MEANING = {
    DERIVATIVE: "The result carries its derivative, in forward and in reverse mode.",
    CONSTANT: "The result is a number whose derivative is zero.",
    PREDICATE: "The result answers a question: a truth value, a place, a count, a type, a text.",
    REFUSED: "A traced value is refused by an error that says what to do.",
}

#: Functions that take arrays and refuse traced ones, with the reason.
WITHOUT_RULE = {
    **dict.fromkeys(("save", "savetxt", "savez", "savez_compressed"), "a file has no derivative"),
    **dict.fromkeys(
        ("busday_count", "busday_offset", "datetime_as_string", "is_busday"),
        "dates have no derivative",
    ),
    **dict.fromkeys(("asmatrix", "bmat"), "np.matrix has operations of its own"),
    **dict.fromkeys(("nditer", "nested_iters", "as_strided"), "they walk through memory"),
    "from_dlpack": "the memory of a traced array is not one array",
    "isfortran": "a traced array has no memory of its own",
}
#: Functions that take no arrays: settings, types, texts, sizes.
WITHOUT_ARRAYS = frozenset({
    "base_repr", "binary_repr", "broadcast_shapes", "busdaycalendar", "datetime_data",
    "diag_indices", "fftfreq", "format_float_positional", "format_float_scientific",
    "frompyfunc", "fromregex", "get_include", "get_printoptions", "getbufsize", "geterr",
    "geterrcall", "indices", "info", "isdtype", "issubdtype", "iterable", "load", "mask_indices",
    "mintypecode", "printoptions", "promote_types", "rfftfreq", "set_printoptions", "setbufsize",
    "seterr", "seterrcall", "show_config", "show_runtime", "test", "tril_indices",
    "triu_indices", "typename",
})  # fmt: skip
#: Windows of a number of points.
WINDOWS = ("bartlett", "blackman", "hamming", "hanning")
#: Functions without a rule of their own that are made of functions with one.
COMPOSED = ("kaiser", "row_stack")

#: The special methods of ndarray; those of operators stand for reflected and augmented ones too.
SPECIAL = {
    DERIVATIVE: "abs add copy deepcopy divmod getitem iter matmul mod mul neg pos pow setitem sub "
    "truediv",
    CONSTANT: "floordiv",
    PREDICATE: "and bool contains eq format ge gt invert le len lshift lt ne or repr rshift str "
    "xor",
    REFUSED: "array complex float index int reduce",
}
#: Attributes of ndarray that are no functions of NumPy.
ATTRIBUTES = {
    **dict.fromkeys(("base", "device", "dtype", "itemsize", "nbytes", "to_device"), PREDICATE),
    "round": CONSTANT,
}


#: Functions of SciPy whose answers are no numbers of the field.
QUESTIONS = ("bandwidth", "ishermitian", "issparse", "issymmetric")
#: Functions of SciPy without array arguments.
NOT_OF_ARRAYS = frozenset({
    "bernoulli", "dft", "errstate", "euler", "eye", "eye_array", "find_best_blas_type",
    "get_blas_funcs", "get_index_dtype", "get_lapack_funcs", "geterr", "hadamard", "helmert",
    "hilbert", "identity", "invhilbert", "invpascal", "load_npz", "pascal", "primes", "rand",
    "random", "random_array", "safely_cast_index_arrays", "seterr", "softplus_", "use_solver",
})  # fmt: skip
#: The classes of scipy.sparse, of which these hold traced entries.
FORMATS = re.compile(r"(csr|csc|coo|bsr|dia|dok|lil)_(array|matrix)")
HOLDING = ("csr", "csc", "coo")
#: Packages of SciPy, all names of which are listed; of the others those that are covered.
WHOLE = ("special", "linalg", "sparse", "sparse.linalg")


#: Packages of which the other libraries were not tried.
NOT_TRIED = ("scipy.stats", "scipy.signal", "scipy.sparse", "scipy.sparse.linalg")


class Entry(NamedTuple):
    """A name, where it is, what its results carry, what else there is to say, who else has it."""

    package: str
    name: str
    result: str
    note: str = ""

    @property
    def peers(self) -> tuple[str, ...]:
        """The other libraries that differentiate it."""
        return peers_of(self._key)

    @property
    def _key(self) -> str:
        """The name that the other libraries were tried by; an alias stands for its function."""
        package = self.package.removeprefix("numpy").lstrip(".")
        if package:
            return f"{package}.{self.name}"
        f = getattr(np, self.name, None)
        same = [self.name, *(n for n in np.__all__ if f is not None and getattr(np, n) is f)]
        return next((n for n in same if n in NEITHER or peers_of(n)), self.name)


def coverage() -> list[Entry]:
    """Every name of NumPy, and of SciPy where it is installed, that takes arrays.

    Each entry says what the results carry: `result` is "derivative", "constant", "predicate" or
    "refused"; `peers` names the other libraries that differentiate it.

    >>> import dualad
    >>> [e.result for e in dualad.coverage() if e.name in ("argmax", "floor", "save", "sin")][:4]
    ['predicate', 'constant', 'refused', 'derivative']
    """
    load_all()
    return _numpy() + _scipy()


def _numpy() -> list[Entry]:
    packages = {
        "numpy": (np, np.__all__),
        "numpy.linalg": (np.linalg, np.linalg.__all__),
        "numpy.fft": (np.fft, np.fft.__all__),
        "numpy.emath": (np.emath, np.emath.__all__),
        "numpy.lib.stride_tricks": (
            np.lib.stride_tricks,
            ["as_strided", "sliding_window_view"],
        ),
    }
    entries = [
        _entry(package, name, f)
        for package, (module, names) in packages.items()
        for name, f in _functions(module, names)
    ]
    return entries + list(_methods())


def _scipy() -> list[Entry]:
    """What of SciPy is covered: its ufuncs as they stand, the rest in the drop-in namespaces."""
    if importlib.util.find_spec("scipy") is None:
        return []
    entries = []
    for package in ("special", "linalg", "stats", "signal", "sparse", "sparse.linalg"):
        module = importlib.import_module(f"scipy.{package}")
        dropin = importlib.import_module(f"{__package__}.scipy.{package}")
        for name in sorted(module.__all__ if package in WHOLE else dropin.__all__):
            f = getattr(module, name)
            takes = not isinstance(f, type) or (package == "sparse" and FORMATS.fullmatch(name))
            if callable(f) and takes and name not in NOT_OF_ARRAYS:
                entries.append(_scipy_entry(f"scipy.{package}", name, f, dropin))
    return entries


def _scipy_entry(package: str, name: str, f: Any, dropin: types.ModuleType) -> Entry:
    if isinstance(f, np.ufunc):
        return Entry(package, name, DERIVATIVE if plain_rule(f) is not None else REFUSED)
    if name in getattr(dropin, "_DISPATCH", ()):
        return Entry(package, name, DERIVATIVE)
    if name not in dropin.__all__:
        return Entry(package, name, REFUSED)
    if isinstance(f, type) and not name.startswith(HOLDING):
        return Entry(package, name, REFUSED, f"traced entries go into {', '.join(HOLDING)}")
    result = PREDICATE if name in QUESTIONS else DERIVATIVE
    return Entry(package, name, result, f"under `{dropin.__name__}`")


def _functions(module: types.ModuleType, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for name in sorted(names):
        f = getattr(module, name)
        known = name in BY_DROPIN or name in WITHOUT_RULE
        if known or (callable(f) and not isinstance(f, type) and name not in WITHOUT_ARRAYS):
            yield name, f


def _entry(package: str, name: str, f: Any) -> Entry:
    if name in WITHOUT_RULE:
        return Entry(package, name, REFUSED, WITHOUT_RULE[name])
    if name in WINDOWS:
        return Entry(package, name, CONSTANT)
    if name in COMPOSED:
        return Entry(package, name, DERIVATIVE)
    if package == "numpy" and name in BY_DROPIN:
        result = PREDICATE if name == "isscalar" else DERIVATIVE
        return Entry(package, name, result, "under `dualad.numpy`")
    known = plain_rule(f) is not None if isinstance(f, np.ufunc) else f in FUNCTIONS
    result = RESULTS.get(f, DERIVATIVE) if known else REFUSED
    if package == "numpy" and name in BY_RULE and result == DERIVATIVE:
        return Entry(package, name, result, "under `dualad.numpy`, or with `like=`")
    return Entry(package, name, result)


def _methods() -> Iterator[Entry]:
    special = {f"__{word}__": r for r, words in SPECIAL.items() for word in words.split()}
    for name in sorted(n for n in dir(np.ndarray) if not n.startswith("_") or n in special):
        if name in special or name in ATTRIBUTES:
            result = special.get(name) or ATTRIBUTES[name]
        elif name in REFUSED_METHODS or not hasattr(TracedArray, name):
            result = REFUSED
        else:
            result = RESULTS.get(getattr(np, name, None), DERIVATIVE)
        yield Entry("numpy.ndarray", name, result, REFUSED_METHODS.get(name, ""))


# --- the page of the documentation ---------------------------------------------------------------

HEAD = """# Coverage

Made by `python docs/generate_coverage.py` from the rules themselves, for {versions}; a test
fails where it is out of date. `dualad.coverage()` gives the same as a list, and which other
libraries differentiate a name: JAX 0.10.2 and HIPS autograd 1.9.1 under their own namespaces.

{meanings}

Every ufunc of two arguments and one result has `reduce`, `accumulate`, `reduceat`, `outer` and
`at` as well, one of one argument `at`. `out=`, `where=`, `dtype=`, `casting=`, `axis=` and
`keepdims=` work as in NumPy; without `out=`, `where=` leaves entries undefined and is refused.
Names of NumPy and the ufuncs of SciPy work as they stand, without an import of ours.
"""


def versions() -> str:
    """The versions that the page is made for."""
    import scipy

    short = (".".join(v.split(".")[:2]) for v in (np.__version__, scipy.__version__))
    return "NumPy {} and SciPy {}".format(*short)


def page() -> str:
    """docs/coverage.md."""
    entries = coverage()
    meanings = "\n".join(f"- **{result}**: {text}" for result, text in MEANING.items())
    parts = [HEAD.format(versions=versions(), meanings=meanings), _counts(entries)]
    parts.append(_beside_peers(entries))
    for package in dict.fromkeys(e.package for e in entries):
        parts.append(_section(package, [e for e in entries if e.package == package]))
    return "\n".join(parts)


def _counts(entries: list[Entry]) -> str:
    lines = [f"| | {' | '.join(MEANING)} |", f"| --- |{' ---: |' * len(MEANING)}"]
    for package in dict.fromkeys(e.package for e in entries):
        counts = [sum(e[0] == package and e.result == r for e in entries) for r in MEANING]
        lines.append(f"| `{package}` | {' | '.join(map(str, counts))} |")
    return "\n".join(lines) + "\n"


def _beside_peers(entries: list[Entry]) -> str:
    """How many names each library differentiates, and which of them this one does not."""
    lines = [
        "## Beside other libraries",
        "",
        "How many of the names of each package carry a derivative (–: not tried). In the tables",
        "below, names in **bold** were tried in both, and neither differentiates them.",
        "",
        f"| | dualad | {' | '.join(PEERS)} |",
        f"| --- | ---: |{' ---: |' * len(PEERS)}",
    ]
    for package in dict.fromkeys(e.package for e in entries):
        mine = [e for e in entries if e.package == package]
        counts: list[Any] = [sum(e.result == DERIVATIVE for e in mine)]
        tried = package not in NOT_TRIED
        counts += [sum(peer in e.peers for e in mine) if tried else "–" for peer in PEERS]
        lines.append(f"| `{package}` | {' | '.join(map(str, counts))} |")
    missed = [f"`{e.package}.{e.name}`" for e in entries if e.peers and e.result == REFUSED]
    lines += [
        "",
        f"What another differentiates and dualad refuses: {', '.join(missed) or 'none'}.",
    ]
    return "\n".join(lines) + "\n"


def _section(package: str, entries: list[Entry]) -> str:
    lines = [f"## {package}", "", "| result | names |", "| --- | --- |"]
    for result in MEANING:
        groups = defaultdict(list)
        for e in entries:
            if e.result == result:
                alone = result == DERIVATIVE and e._key in NEITHER
                groups[e.note].append(f"**`{e.name}`**" if alone else f"`{e.name}`")
        for note, names in groups.items():
            label = f"{result}: {note}" if note else result
            lines.append(f"| {label} | {', '.join(names)} |")
    return "\n".join(lines) + "\n"
