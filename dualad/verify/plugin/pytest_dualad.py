"""The pytest plugin of dualad: derivatives checked in a test suite.

It brings the fixture `check_derivative` and the marker `derivative`, and shows the report of a
check where a test fails. It is installed as a module beside dualad: pytest loads all plugins
before anything else, and so imports nothing of dualad for a test suite that does not use it (and
one that measures the coverage of dualad still sees its import).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

__all__ = ["CheckDerivative"]

MARKER = (
    "derivative(**options): the test returns what is to be checked, (subject, *arguments), and "
    "passes if dualad.verify.check, told the options, finds all of it right; prove=True proves "
    "it by dualad.verify.prove instead."
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, for --strict-markers."""
    config.addinivalue_line("markers", MARKER)


class CheckDerivative:
    """The value of the fixture `check_derivative`: a call checks, and fails the test if need be.

    Each of its calls gives the report (or the proof) if all is right, and otherwise raises an
    AssertionError with the table of what is not.
    """

    def __call__(self, subject: Any, *args: Any, **options: Any) -> Any:
        """Check a function, a rule or a pair (f, derivative) at a point: `dualad.verify.check`."""
        __tracebackhide__ = True
        from dualad.verify import check

        return _required(check(subject, *args, **options))

    def jac(self, fun: Any, jac: Any, x: Any, *args: Any, **options: Any) -> Any:
        """Check a Jacobian for SciPy's solvers: `dualad.verify.check_jac`."""
        __tracebackhide__ = True
        from dualad.verify import check_jac

        return _required(check_jac(fun, jac, x, *args, **options))

    def prove(self, subject: Any, *args: Any, **options: Any) -> Any:
        """Prove a rule or formula on symbols: `dualad.verify.prove`."""
        __tracebackhide__ = True
        from dualad.verify import prove

        return _required(prove(subject, *args, **options))


def _required(result: Any) -> Any:
    __tracebackhide__ = True
    if not result:
        raise AssertionError(result.table())
    return result


@pytest.fixture(scope="session")
def check_derivative() -> CheckDerivative:
    """What checks derivatives: call it with a subject, its arguments, and options."""
    return CheckDerivative()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test with the marker, and check what it returns."""
    __tracebackhide__ = True
    marker = pyfuncitem.get_closest_marker("derivative")
    if marker is None:
        return None
    if marker.args:
        raise TypeError("the marker derivative takes keywords only: the options of check")
    names = pyfuncitem._fixtureinfo.argnames
    result = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    if result is None:
        return True  # the test has checked something itself
    _check(result, dict(marker.kwargs))
    return True


def _check(result: Any, options: dict[str, Any]) -> None:
    __tracebackhide__ = True
    if hasattr(result, "verdict"):
        _required(result)
        return
    subject, *args = result if isinstance(result, tuple) else (result,)
    if options.pop("prove", False):
        CheckDerivative().prove(subject, *args, **options)
    else:
        CheckDerivative()(subject, *args, **options)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Where `assert check(...)` fails, show the report that was false."""
    outcome: Any = yield
    if call.excinfo is None or not isinstance(call.excinfo.value, AssertionError):
        return
    shown = str(call.excinfo.value)
    tables = [t for t in _false_reports(call.excinfo.traceback) if t not in shown]
    for table in dict.fromkeys(tables):
        outcome.get_result().sections.append(("derivatives", table))


def _false_reports(traceback: Any) -> Iterator[str]:
    """The tables of reports and proofs that are not true, in the variables of a traceback."""
    modules = ("dualad.verify.report", "dualad.verify.proof")
    if not any(m in sys.modules for m in modules):
        return
    for entry in traceback:
        for value in list(entry.frame.f_locals.values()):
            if type(value).__module__ in modules and hasattr(value, "table") and not value:
                yield value.table()
