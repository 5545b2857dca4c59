"""Write dualad/peers.py: the slopes that other libraries give at the points of our conventions.

It runs where PyTorch, JAX and HIPS autograd are installed. The expressions are ours: JAX and
autograd get them with their own NumPy, PyTorch with a namespace of NumPy's names below.
"""

import math
import warnings
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import autograd
import autograd.numpy as autograd_numpy
import jax
import jax.numpy as jax_numpy
import numpy as np
import torch

import dualad

jax.config.update("jax_enable_x64", True)
warnings.simplefilter("ignore")

SECTIONS = '''"""Slopes that other libraries give at the points of our conventions.

Made by `python -m benchmarks.kinks`. A text each; empty where a library lacks the function.
"""

__all__ = ["MEASURED", "PEERS", "VERSIONS"]

'''


def tensor(x):
    return torch.as_tensor(x, dtype=torch.float64)


def pair(f):
    """A function of two tensors, either of which may be a number."""
    return lambda x, y: f(tensor(x), tensor(y))


def torch_power(x, y):
    return torch.pow(tensor(x), tensor(y)) if isinstance(x, float) else torch.pow(x, y)


def torch_norm(x, order=2):
    return torch.linalg.vector_norm(x, order)


#: NumPy's names in PyTorch.
NUMPY_OF_TORCH = SimpleNamespace(
    abs=torch.abs, fabs=torch.abs, maximum=pair(torch.maximum), minimum=pair(torch.minimum),
    fmax=pair(torch.fmax), fmin=pair(torch.fmin), sqrt=torch.sqrt, log=torch.log, sin=torch.sin,
    log1p=torch.log1p, arcsin=torch.arcsin, arccos=torch.arccos, arccosh=torch.arccosh,
    arctanh=torch.arctanh, hypot=torch.hypot, arctan2=torch.arctan2, sinc=torch.sinc,
    logaddexp=torch.logaddexp, copysign=torch.copysign, mod=torch.remainder, fmod=torch.fmod,
    sign=torch.sign, floor=torch.floor, ceil=torch.ceil, trunc=torch.trunc, rint=torch.round,
    round=torch.round, floor_divide=torch.floor_divide, heaviside=torch.heaviside,
    nextafter=pair(torch.nextafter), frexp=torch.frexp,
    ldexp=lambda x, n: torch.ldexp(x, torch.tensor(n)),
    clip=lambda x, *bounds: torch.clip(tensor(x), *bounds),
    where=lambda c, x, y: torch.where(c, tensor(x), tensor(y)), nan_to_num=torch.nan_to_num,
    sort=lambda x: torch.sort(x).values, max=torch.amax, min=torch.amin,
    std=lambda x: torch.std(x, correction=0), var=lambda x: torch.var(x, correction=0),
    prod=torch.prod, sum=torch.sum, cumprod=lambda x: torch.cumprod(x, 0),
    median=torch.median, nanmedian=torch.nanmedian,
    percentile=lambda x, p: torch.quantile(x, p / 100),
    angle=torch.angle, stack=torch.stack, diag=torch.diag, nan=math.nan, inf=math.inf,
    maximum_accumulate=lambda x: torch.cummax(x, 0).values,
    linalg=SimpleNamespace(norm=torch_norm, det=torch.linalg.det),
)  # fmt: skip


#: jax.numpy wants arrays where NumPy takes lists.
NUMPY_OF_JAX = SimpleNamespace(**vars(jax_numpy))
NUMPY_OF_JAX.interp = lambda x, *knots: jax_numpy.interp(x, *map(jax_numpy.asarray, knots))


def function_of(kink, namespace):
    text = kink.function
    if namespace is NUMPY_OF_TORCH:
        text = text.replace("np.maximum.accumulate", "np.maximum_accumulate")
    return eval(f"lambda x, y=None: {text}", {"np": namespace})


def point_of(kink):
    value = eval(kink.point, {"np": np})
    parts = value if isinstance(value, tuple) else (value,)
    return [np.asarray(p, float) for p in parts]


def by_torch(kink):
    xs = [torch.tensor(p, requires_grad=True) for p in point_of(kink)]
    out = function_of(kink, NUMPY_OF_TORCH)(*xs)
    if not out.requires_grad:
        return [np.zeros(p.shape) for p in point_of(kink)]
    grads = torch.autograd.grad(out, xs, allow_unused=True)
    return [np.zeros(x.shape) if g is None else g.numpy() for g, x in zip(grads, xs, strict=True)]


def by_jax(kink):
    xs = [jax_numpy.asarray(p) for p in point_of(kink)]
    return jax.grad(function_of(kink, NUMPY_OF_JAX), tuple(range(len(xs))))(*xs)


def by_autograd(kink):
    f, xs = function_of(kink, autograd_numpy), [p[()] for p in point_of(kink)]
    return [autograd.grad(f, k)(*xs) for k in range(len(xs))]


def text_of(slopes):
    return ", ".join(number(float(v)) for s in slopes for v in np.ravel(s))


def number(v):
    if math.isnan(v) or math.isinf(v):
        return "NaN" if math.isnan(v) else "∞" if v > 0 else "−∞"
    for text, exact in (("½", 1 / 2), ("⅓", 1 / 3), ("¼", 1 / 4), ("¾", 3 / 4)):
        if abs(abs(v) - exact) < 1e-12:
            return text if v > 0 else f"−{text}"
    return f"{v + 0.0:.6g}".replace("-", "−")


def measured(by, kink):
    try:
        with np.errstate(all="ignore"):
            return text_of(by(kink))
    except (AttributeError, TypeError, NotImplementedError, RuntimeError, ValueError) as error:
        print(f"{by.__name__:12} {kink.function:45} {type(error).__name__}: {str(error)[:90]}")
        return ""


def main():
    peers = {"PyTorch": by_torch, "JAX": by_jax, "autograd": by_autograd}
    lines = [SECTIONS]
    versions = {
        "PyTorch": torch.__version__.partition("+")[0], "JAX": jax.__version__,
        "autograd": metadata.version("autograd"),
    }  # fmt: skip
    lines.append(f"PEERS = {tuple(peers)!r}\nVERSIONS = {versions!r}\n".replace("'", '"'))
    lines.append("#: (function, point) -> a slope for each of PEERS\nMEASURED = {\n")
    for kink in dualad.conventions():
        found = tuple(measured(by, kink) for by in peers.values())
        lines.append(f"    ({kink.function!r}, {kink.point!r}): {found!r},\n".replace("'", '"'))
    lines.append("}\n")
    Path(dualad.__file__).with_name("peers.py").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
