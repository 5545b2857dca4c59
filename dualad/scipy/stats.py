"""scipy.stats, whose densities and distribution functions differentiate in all arguments.

norm, t, beta, gamma, chi2, expon, lognorm and uniform have pdf, logpdf, cdf, logcdf, sf and
logsf; poisson has pmf and logpmf in place of the first two; dirichlet has pdf and logpdf,
multivariate_normal pdf, logpdf, cdf and logcdf. All else is SciPy's.

>>> import dualad
>>> from dualad.scipy.stats import norm
>>> dualad.grad(lambda scale: norm(1.0, scale).logpdf(3.0))(2.0)
0.0
"""

from __future__ import annotations

from typing import Any

import scipy.stats as _original

from ..ops.distributions.dirichlet import dirichlet
from ..ops.distributions.multivariate_normal import multivariate_normal
from ..ops.distributions.table import beta, chi2, expon, gamma, lognorm, norm, poisson, t, uniform
from ..ops.dropin import attribute as _attribute

__all__ = [
    "beta",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "lognorm",
    "multivariate_normal",
    "norm",
    "poisson",
    "t",
    "uniform",
]


def __getattr__(name: str) -> Any:
    return _attribute(_original, name, __all__)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_original)})
