"""scipy.linalg, whose functions differentiate: the same names, arguments and results.

On plain arrays each function is SciPy's. What is not in `__all__` is passed through, and refuses
tracked values.

>>> import numpy as np, dualad
>>> import dualad.scipy.linalg as linalg
>>> A = np.array([[2.0, 1.0], [0.0, 3.0]])
>>> dualad.grad(lambda b: np.sum(linalg.solve_triangular(A, b)))(np.array([1.0, 1.0]))
array([0.5       , 0.16666667])
"""

from __future__ import annotations

from typing import Any

import scipy.linalg as _original

from ..ops.dropin import attribute as _attribute
from ..ops.matrices.banded import cho_solve_banded, cholesky_banded, solve_banded, solveh_banded
from ..ops.matrices.constructed import (
    block_diag,
    circulant,
    companion,
    convolution_matrix,
    diagsvd,
    fiedler,
    fiedler_companion,
    hankel,
    khatri_rao,
    leslie,
    toeplitz,
)
from ..ops.matrices.equations import (
    solve_continuous_are,
    solve_continuous_lyapunov,
    solve_discrete_are,
    solve_discrete_lyapunov,
    solve_lyapunov,
    solve_sylvester,
)
from ..ops.matrices.functions import (
    coshm,
    cosm,
    expm,
    expm_frechet,
    fractional_matrix_power,
    funm,
    logm,
    signm,
    sinhm,
    sinm,
    sqrtm,
    tanhm,
    tanm,
)
from ..ops.matrices.general_spectra import eig, eigvals
from ..ops.matrices.hermitian_spectra import (
    eig_banded,
    eigh,
    eigh_tridiagonal,
    eigvals_banded,
    eigvalsh,
    eigvalsh_tridiagonal,
)
from ..ops.matrices.lu import ldl, lu, lu_factor, lu_solve
from ..ops.matrices.orthogonal import (
    null_space,
    orth,
    orthogonal_procrustes,
    polar,
    qr,
    rq,
    subspace_angles,
    svd,
    svdvals,
)
from ..ops.matrices.predicates import bandwidth, ishermitian, issymmetric
from ..ops.matrices.schur import hessenberg, schur
from ..ops.matrices.systems import det, inv, lstsq, norm, pinv, pinvh, solve
from ..ops.matrices.toeplitz import matmul_toeplitz, solve_circulant, solve_toeplitz
from ..ops.matrices.triangular import cho_factor, cho_solve, cholesky, solve_triangular

__all__ = [
    "bandwidth",
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cho_solve_banded",
    "cholesky",
    "cholesky_banded",
    "circulant",
    "companion",
    "convolution_matrix",
    "coshm",
    "cosm",
    "det",
    "diagsvd",
    "eig",
    "eig_banded",
    "eigh",
    "eigh_tridiagonal",
    "eigvals",
    "eigvals_banded",
    "eigvalsh",
    "eigvalsh_tridiagonal",
    "expm",
    "expm_frechet",
    "fiedler",
    "fiedler_companion",
    "fractional_matrix_power",
    "funm",
    "hankel",
    "hessenberg",
    "inv",
    "ishermitian",
    "issymmetric",
    "khatri_rao",
    "ldl",
    "leslie",
    "logm",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul_toeplitz",
    "norm",
    "null_space",
    "orth",
    "orthogonal_procrustes",
    "pinv",
    "pinvh",
    "polar",
    "qr",
    "rq",
    "schur",
    "signm",
    "sinhm",
    "sinm",
    "solve",
    "solve_banded",
    "solve_circulant",
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_lyapunov",
    "solve_sylvester",
    "solve_toeplitz",
    "solve_triangular",
    "solveh_banded",
    "sqrtm",
    "subspace_angles",
    "svd",
    "svdvals",
    "tanhm",
    "tanm",
    "toeplitz",
]


def __getattr__(name: str) -> Any:
    return _attribute(_original, name, __all__)


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(_original)})
