"""What compiled derivatives should cost at most, in evaluations of f."""

__all__ = ["FUSED", "FUSED_REASONS"]

#: By workload and job; set beforehand from what compilers and fused loops by hand reach.
FUSED: dict[tuple[str, str], float] = {
    ("ops_scalar", "jvp"): 0.4,
    ("ops_scalar", "grad"): 0.3,
    ("ops_len10", "jvp"): 0.2,
    ("ops_len10", "grad"): 0.15,
    ("rosenbrock_2", "grad"): 1,
    ("rosenbrock_2", "hvp"): 1,
    ("rosenbrock_100", "grad"): 2,
    ("rosenbrock_100", "hvp"): 2,
    ("rosenbrock_100", "hess"): 4,
    ("rosenbrock_10000", "grad"): 1,
    ("rosenbrock_10000", "hvp"): 1.5,
    ("black_scholes_1e6", "jvp"): 0.30,
    ("black_scholes_1e6", "grad"): 0.30,
    ("polynomial_1e6", "jvp"): 0.15,
    ("polynomial_1e6", "grad"): 0.15,
    ("mlp", "vag"): 1.9,
    ("mlp", "jvp"): 1.7,
    ("gmm_d10_k25", "grad"): 1.3,
    ("gmm_d10_k25", "jvp"): 1.5,
    ("bundle_2000", "jacrev"): 6,
    ("lstm_256", "grad"): 0.2,
    ("lstm_256", "jvp"): 0.1,
    ("jacobian_50_2000", "jacfwd"): 17,
    ("jacobian_200_200", "jacfwd"): 24,
    ("jacobian_200_200", "jacrev"): 50,
    ("robertson", "jac2"): 2,
    ("robertson", "jvpk"): 2,
    ("brusselator_100", "jac2"): 3.9,
    ("brusselator_100", "jvpk"): 1.7,
    ("radau_robertson", "ivp"): 3,
    ("rk45_brusselator", "ivp"): 3,
    ("cholesky_200", "grad"): 3.2,
    ("cholesky_200", "jvp"): 3.0,
    ("logdet_solve_200", "grad"): 2.1,
    ("logdet_solve_200", "jvp"): 2.2,
    ("eigh_200", "grad"): 1.4,
    ("eigh_200", "jvp"): 1.4,
    ("newton_200", "jvp"): 0.2,
    ("newton_200", "grad"): 0.2,
    ("chain_1e5", "grad"): 0.1,
}

#: What dominates, for the workloads whose compiled rows are lost.
FUSED_REASONS: dict[str, str] = {
    "rosenbrock_100": "The Hessian is an array of 100 x 100 made from matrices of which all but "
    "three diagonals are zero: four are read and one is written, where a loop by hand would write "
    "the three diagonals.",
    "black_scholes_1e6": "Arithmetic: some 220 vector instructions and five divisions for each "
    "eight numbers, as fast without arrays in the cache as with them. Terms of the kind a x + b x "
    "are not collected, because that is not exact.",
    "polynomial_1e6": "The memory's limit is near: two arrays of 8 MB are read or written. Sums "
    "and products are rounded one by one, as NumPy rounds them: fused they would be faster, but "
    "differences that are exactly zero would not stay so.",
    "mlp": "The matrix products alone are 1.85 evaluations of f in NumPy's OpenBLAS; PyTorch's "
    "library needs a fifth less for the first layer.",
    "cholesky_200": "The factorisation, the products of its rule, which goes by blocks, and the "
    "product that the covariance adds are LAPACK's and BLAS's.",
    "logdet_solve_200": "The inverse is a quarter, the factorisation a fifth, two products of "
    "matrices another quarter: they are LAPACK's and BLAS's.",
    "eigh_200": "Four fifths are LAPACK's eigendecomposition, of which PyTorch has another.",
    "memory": "Nearly all of it is the results, 8 MB an array, in memory that is fresh at each "
    "call; a library that still has the pages of an earlier one shows no rise for them.",
}
