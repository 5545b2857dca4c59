"""Where SciPy or NumPy makes an error of its own of a lost derivative, it is ours again."""

import numpy as np
import pytest
from scipy import integrate, optimize

import dualad
from dualad.errors import LostDerivativeError

ROOTS = {
    name: lambda a, find=getattr(optimize, name): find(lambda x: x * x - a, 0.0, 5.0)
    for name in ("brentq", "brenth", "bisect", "ridder", "toms748")
}
CALLS = {
    **ROOTS,
    "a bracket": lambda a: optimize.brentq(lambda x: x * x - 2, 0.0, a),
    "root_scalar": lambda a: optimize.root_scalar(lambda x: x * x - a, bracket=(0.0, 5.0)).root,
    "root": lambda a: optimize.root(lambda x: x * x - a, 1.0).x[0],
    "fsolve": lambda a: optimize.fsolve(lambda x: x * x - a, 1.0)[0],
    "minimize": lambda a: optimize.minimize(lambda x: (x[0] - a) ** 2, [1.0]).x[0],
    "leastsq": lambda a: optimize.leastsq(lambda x: x - a, [1.0])[0][0],
    "quad": lambda a: integrate.quad(lambda x: a * x, 0, 1)[0],
    "a limit": lambda a: integrate.quad(lambda x: x, 0, a)[0],
}
TRANSFORMATIONS = {
    "grad": lambda f: dualad.grad(f)(2.0),
    "jvp": lambda f: dualad.jvp(f, (2.0,), (1.0,)),
    "hessian": lambda f: dualad.hessian(f)(2.0),
    "jacrev": lambda f: dualad.jacrev(f)(np.array(2.0)),
}


@pytest.mark.parametrize("how", TRANSFORMATIONS)
@pytest.mark.parametrize("what", CALLS)
def test_scipys_functions_say_what_to_use(what, how, capfd):
    with pytest.raises(LostDerivativeError, match=r"scipy.* takes plain arrays.*sensitivity"):
        TRANSFORMATIONS[how](CALLS[what])
    capfd.readouterr()  # minpack prints the error that it swallows


def test_what_scipy_said_is_there_too():
    with pytest.raises(LostDerivativeError, match=r"came of it") as caught:
        dualad.grad(ROOTS["brentq"])(2.0)
    assert not isinstance(caught.value.__cause__, dualad.DualADError)


def test_numpys_functions_that_store_entries():
    said = r"would lose its derivative.*came of it: setting an array"
    with pytest.raises(LostDerivativeError, match=said):
        dualad.grad(lambda a: np.fromiter((v * a for v in range(3)), float)[0])(2.0)


def test_tensors():
    def f(x):
        return x * optimize.brentq(lambda z: z * z - x, 0.0, 5.0)

    with pytest.raises(LostDerivativeError, match=r"item\(\)"):
        dualad.func.grad(f)(dualad.tensor(2.0))


# --- what is not touched ----------------------------------------------------------------------


def failing(error):
    def f(x):
        try:
            float(x)
        except LostDerivativeError:
            pass
        raise error

    return f


@pytest.mark.parametrize("error", [KeyError("mine"), ValueError("mine"), KeyboardInterrupt()])
def test_errors_of_the_user_stay(error):
    with pytest.raises(type(error)) as caught:
        dualad.grad(failing(error))(2.0)
    assert caught.value is error


def test_so_do_those_that_he_raises_of_ours():
    def f(x):
        try:
            return float(x)
        except LostDerivativeError as lost:
            raise ValueError("mine") from lost

    with pytest.raises(ValueError, match=r"^mine$"):
        dualad.grad(f)(2.0)


def test_and_those_of_a_library_that_have_another_reason():
    def f(x):
        try:
            optimize.brentq(lambda z: z * z - x, 0.0, 5.0)
        except Exception:
            pass
        optimize.bisect(lambda z: z + 1.0, 0.0, 1.0)
        return x

    with pytest.raises(ValueError, match="different signs") as caught:
        dualad.grad(f)(2.0)
    assert not isinstance(caught.value, dualad.DualADError)
    with pytest.raises(np.linalg.LinAlgError):
        dualad.grad(lambda x: x * np.linalg.inv(np.zeros((2, 2)))[0, 0])(1.0)


OWN = np.array([object(), 1.0], dtype=object)


def of_an_attribute(x):
    return x * np.float64(2.0).item().square()


def of_his_own_words(x):
    raise TypeError("dtype('O') is none of yours")


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * np.exp(OWN)[1],
        lambda x: x * np.sin(np.array([1.0, None]))[0],
        lambda x: x * np.exp(np.array(["a"]))[0],
        lambda x: x * np.linalg.det(np.array([[1.0, None], [2.0, 3.0]])),
        of_an_attribute,
        of_his_own_words,
    ],
    ids=["exp", "sin", "strings", "det", "attribute", "words"],
)
def test_arrays_of_objects_that_hold_no_traced_number(f):
    with pytest.raises((TypeError, AttributeError)) as plain:
        f(2.0)
    with pytest.raises(plain.type) as caught:
        dualad.grad(f)(2.0)
    assert type(caught.value) is plain.type
    assert str(caught.value) == str(plain.value)


def test_arrays_of_objects_that_hold_one():
    def stored(x):
        a = np.empty((2, 2), dtype=object)
        a[:] = 1.0
        a[0, 0] = x
        return np.linalg.det(a)

    for f in (lambda x: np.linalg.det(np.array([[x, 1.0], [2.0, 3.0]])), stored):
        with pytest.raises(LostDerivativeError, match="array of objects"):
            dualad.grad(f)(2.0)


def test_an_error_of_a_function_that_a_library_calls():
    """The same library function had refused a traced number before, which was caught."""

    def fails(row):
        raise RuntimeError("mine")

    def f(x):
        with pytest.raises(LostDerivativeError):
            np.apply_along_axis(lambda row: float(x), 0, np.ones(3))
        return x * np.apply_along_axis(fails, 0, np.ones(3))

    with pytest.raises(RuntimeError, match=r"^mine$"):
        dualad.grad(f)(2.0)


class Speechless(TypeError):
    def __str__(self):
        raise RuntimeError("no words")


def test_an_error_that_says_nothing():
    with pytest.raises(Speechless):
        dualad.grad(failing(Speechless()))(2.0)


def test_errors_that_are_causes_of_each_other():
    def f(x):
        try:
            np.linalg.inv(np.zeros((2, 2)))
        except np.linalg.LinAlgError as error:
            other = KeyError("mine")
            error.__cause__, other.__cause__ = other, error
            raise

    with pytest.raises(np.linalg.LinAlgError):
        dualad.grad(f)(2.0)


def test_what_fails_after_a_refusal_was_caught():
    """The error has the refusal for a context, since it is raised where that is handled."""

    def f(x, otherwise):
        try:
            return float(x)
        except LostDerivativeError:
            return x * otherwise()

    def stores():
        buffer = np.zeros(2)
        buffer[0] = [1.0, 2.0]

    with pytest.raises(np.linalg.LinAlgError):
        dualad.grad(f)(2.0, lambda: np.linalg.inv(np.zeros((2, 2))))
    with pytest.raises(ValueError, match="with a sequence") as caught:
        dualad.grad(f)(2.0, stores)
    assert type(caught.value) is ValueError
