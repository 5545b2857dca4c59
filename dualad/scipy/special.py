"""scipy.special, all of which differentiates that can: the same names, arguments and results.

The ufuncs are SciPy's own, which dispatch to tracked values by themselves. The functions in
`__all__` do not in SciPy: here they are SciPy's on plain arguments, and differentiate on tracked
ones. All else is passed through, and refuses tracked values.

>>> import dualad, numpy as np
>>> import dualad.scipy.special as special
>>> dualad.grad(lambda x: special.logsumexp(x) + special.erf(x[0]))(np.zeros(2))
array([1.62837917, 0.5       ])
"""

from __future__ import annotations

from typing import Any

import scipy.special as _original

from ..ops.dropin import attribute as _attribute
from ..ops.special.exponential_sums import log_softmax, logsumexp, softmax
from ..ops.special.functions import (
    comb,
    diric,
    factorial,
    h1vp,
    h2vp,
    ivp,
    jvp,
    kvp,
    multigammaln,
    perm,
    polygamma,
    spherical_in,
    spherical_jn,
    spherical_kn,
    spherical_yn,
    yvp,
)
from ..ops.special.harmonics import assoc_legendre_p, legendre_p, sph_harm_y, sph_legendre_p

__all__ = [
    "assoc_legendre_p",
    "comb",
    "diric",
    "factorial",
    "h1vp",
    "h2vp",
    "ivp",
    "jvp",
    "kvp",
    "legendre_p",
    "log_softmax",
    "logsumexp",
    "multigammaln",
    "perm",
    "polygamma",
    "softmax",
    "sph_harm_y",
    "sph_legendre_p",
    "spherical_in",
    "spherical_jn",
    "spherical_kn",
    "spherical_yn",
    "yvp",
]

#: Python functions of SciPy that only call ufuncs, and so dispatch as they stand.
_DISPATCH = ("assoc_laguerre", "lambertw", "sinc", "softplus", "zeta")


def __getattr__(name: str) -> Any:
    if name in _DISPATCH:
        return getattr(_original, name)
    return _attribute(_original, name, __all__)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_original)})
