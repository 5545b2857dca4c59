"""Imports point downwards: between the layers, and between the groups of the engine."""

import ast
import re
from pathlib import Path

import pytest

import dualad

ROOT = Path(dualad.__file__).parent
ENGINE = ROOT / "engine"
GROUPS = sorted(p.parent.name for p in ENGINE.glob("*/__init__.py"))

#: What is imported from a higher group, inside of functions, when it is first needed.
LATER = {
    ("programs.tape", "requires_grad.blame"),
    ("programs.tape", "late_sweep.fused"),
    ("put_off.putting_off", "fast_paths.codegen"),
    ("fast_paths.codegen", "late_sweep.late_records"),
}


def imports(file):
    """The modules of dualad that a file imports, and whether that is inside of a function."""

    def visit(node, inside):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ImportFrom):
                yield from ((name, inside) for name in modules(file, child))
            elif isinstance(child, ast.Import):
                yield from ((a.name, inside) for a in child.names if a.name.startswith("dualad"))
            else:
                yield from visit(child, inside or isinstance(child, ast.FunctionDef))

    yield from visit(ast.parse(file.read_text()), False)


def modules(file, statement):
    """The modules of dualad that `from ... import a, b` imports, of those that are given names."""
    folder = ("dualad", *file.parent.relative_to(ROOT).parts)
    base = folder[: len(folder) - statement.level + 1] if statement.level else ()
    name = ".".join([*base, *filter(None, [statement.module])])
    if name.partition(".")[0] != "dualad":
        return
    for alias in statement.names:
        inner = f"{name}.{alias.name}"
        path = ROOT.parent.joinpath(*inner.split("."))
        yield inner if path.is_dir() or path.with_suffix(".py").exists() else name


def may_import(group):
    """The groups that a group's docstring names, and what is below them."""
    said = re.search(r"It may import: ([^.]+)\.", ast.get_docstring(ast.parse(text(group))))
    return set() if said[1].startswith("nothing") else set(re.split(r",\s+", said[1]))


def text(group):
    return (ENGINE / group / "__init__.py").read_text()


def test_every_file_of_the_engine_is_in_a_group():
    assert [p.name for p in ENGINE.glob("*.py")] == ["__init__.py"]
    assert all(name in dualad.engine.__doc__ for name in GROUPS)


def test_groups_are_folders_with_a_docstring_and_nothing_to_load():
    for group in GROUPS:
        assert len(ast.parse(text(group)).body) == 1


@pytest.mark.parametrize("group", GROUPS)
def test_a_docstring_tells_all_of_its_group(group):
    files = {p.stem for p in (ENGINE / group).glob("*.py")} - {"__init__"}
    assert files <= set(re.findall(r"`(\w+)`", text(group)))


def test_what_groups_may_import_goes_downwards():
    left = {group: may_import(group) for group in GROUPS}
    while left:
        lowest = [group for group, others in left.items() if not others & set(left)]
        assert lowest, f"a circle among {sorted(left)}"
        for group in lowest:
            del left[group]


@pytest.mark.parametrize("group", GROUPS)
def test_groups_import_what_they_say(group):
    allowed = may_import(group) | {group}
    seen = set()
    for file in (ENGINE / group).glob("*.py"):
        for name, inside in imports(file):
            _, layer, *rest = name.split(".")
            if layer != "engine":
                continue
            here = f"{group}.{file.stem}"
            if inside and (here, ".".join(rest)) in LATER:
                continue
            assert rest[0] in allowed, f"{here} imports {name}"
            seen.add(rest[0])
    assert seen | {group} == allowed  # what is not needed is not allowed


def test_what_is_imported_later_is():
    found = {
        (f"{file.parent.name}.{file.stem}", name.removeprefix("dualad.engine."))
        for file in ENGINE.glob("*/*.py")
        for name, inside in imports(file)
        if inside
    }
    assert found >= LATER


@pytest.mark.parametrize(
    ("layer", "below"),
    [
        ("engine", {"errors"}),
        ("ops", {"engine", "errors"}),
        ("transforms", {"ops", "engine", "errors"}),
        ("compiling", {"transforms", "engine", "errors", "extras", "version"}),
    ],
)
def test_layers_import_what_is_below_them(layer, below):
    for file in (ROOT / layer).rglob("*.py"):
        for name, _ in imports(file):
            assert name.split(".")[1] in {layer, *below}, f"{file.relative_to(ROOT)}: {name}"
