"""Which functions of NumPy and SciPy other libraries differentiate, by name.

Found by calling each of them: HIPS autograd 1.9.1 under autograd.numpy and autograd.scipy, JAX
0.10.2 under jax.numpy and jax.scipy.
"""

__all__ = ["NEITHER", "PEERS", "peers_of"]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: HIPS autograd in both modes, in reverse mode alone, in forward mode alone; JAX in both modes.
AUTOGRAD = _names("""
    absolute add amax amin angle append arccos arccosh arcsin arcsinh arctan arctan2 arctanh
    array array_split atleast_1d atleast_2d atleast_3d block choose clip column_stack
    concatenate conjugate cos cosh cross cumsum deg2rad degrees diag diff divide dot dsplit
    dstack einsum exp exp2 expand_dims expm1 fabs fliplr flipud fmax fmin gradient histogram
    hsplit hstack imag inner kron linalg.multi_dot linalg.norm linspace log log10 log1p log2
    logaddexp logaddexp2 matmul max maximum mean min minimum mod moveaxis multiply nan_to_num
    ndarray.T ndarray.__abs__ ndarray.__add__ ndarray.__getitem__ ndarray.__iter__
    ndarray.__matmul__ ndarray.__mod__ ndarray.__mul__ ndarray.__neg__ ndarray.__pow__
    ndarray.__sub__ ndarray.__truediv__ ndarray.choose ndarray.clip ndarray.cumsum
    ndarray.flatten ndarray.max ndarray.mean ndarray.min ndarray.prod ndarray.ravel
    ndarray.repeat ndarray.reshape ndarray.squeeze ndarray.std ndarray.sum ndarray.swapaxes
    ndarray.trace ndarray.transpose ndarray.var negative outer pad partition power prod rad2deg
    radians ravel real real_if_close reciprocal repeat reshape roll rollaxis rot90
    scipy.linalg.solve_sylvester scipy.linalg.sqrtm scipy.special.logsumexp select sin sinc
    sinh sort split sqrt square squeeze stack std subtract sum swapaxes tan tanh tensordot tile
    trace transpose tril triu var vsplit vstack where
""")
AUTOGRAD_REVERSE = _names("""
    astype fft.fft fft.fft2 fft.fftn fft.fftshift fft.ifft fft.ifft2 fft.ifftn fft.ifftshift
    fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn hypot linalg.cholesky
    linalg.det linalg.eig linalg.eigh linalg.inv linalg.pinv linalg.slogdet linalg.solve
    linalg.svd ndarray.astype scipy.linalg.solve_banded scipy.linalg.solve_triangular
    scipy.special.beta scipy.special.betainc scipy.special.betaln scipy.special.digamma
    scipy.special.erf scipy.special.erfc scipy.special.erfcinv scipy.special.erfinv
    scipy.special.expit scipy.special.gamma scipy.special.gammainc scipy.special.gammaincc
    scipy.special.gammaln scipy.special.i0 scipy.special.i1 scipy.special.iv scipy.special.ive
    scipy.special.j0 scipy.special.j1 scipy.special.jn scipy.special.logit
    scipy.special.multigammaln scipy.special.polygamma scipy.special.psi scipy.special.rgamma
    scipy.special.y0 scipy.special.y1 scipy.special.yn
""")
AUTOGRAD_FORWARD = _names("""
    broadcast_to diagonal full ndarray.diagonal
""")
JAX = _names("""
    absolute add amax amin angle append apply_along_axis apply_over_axes arccos arccosh arcsin
    arcsinh arctan arctan2 arctanh array array_split asarray astype atleast_1d atleast_2d
    atleast_3d average bincount block broadcast_arrays broadcast_to cbrt choose clip
    column_stack compress concatenate conjugate convolve copy copysign corrcoef correlate cos
    cosh cov cross cumprod cumsum cumulative_prod cumulative_sum deg2rad degrees delete diag
    diagflat diagonal diff divide divmod dot dsplit dstack ediff1d einsum exp exp2 expand_dims
    expm1 extract fabs fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2
    fft.ifftn fft.ifftshift fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2
    fft.rfftn fill_diagonal flip fliplr flipud float_power fmax fmin fmod frexp full full_like
    geomspace gradient histogram histogram2d histogramdd hsplit hstack hypot i0 imag inner
    insert interp kron ldexp linalg.cholesky linalg.cond linalg.cross linalg.det
    linalg.diagonal linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv linalg.lstsq
    linalg.matmul linalg.matrix_norm linalg.matrix_power linalg.matrix_transpose
    linalg.multi_dot linalg.norm linalg.outer linalg.pinv linalg.qr linalg.slogdet linalg.solve
    linalg.svd linalg.svdvals linalg.tensordot linalg.tensorinv linalg.tensorsolve linalg.trace
    linalg.vecdot linalg.vector_norm linspace log log10 log1p log2 logaddexp logaddexp2
    logspace matmul matrix_transpose matvec max maximum mean median meshgrid min minimum mod
    modf moveaxis multiply nan_to_num nancumprod nancumsum nanmax nanmean nanmedian nanmin
    nanpercentile nanprod nanquantile nanstd nansum nanvar ndarray.T ndarray.__abs__
    ndarray.__add__ ndarray.__divmod__ ndarray.__getitem__ ndarray.__iter__ ndarray.__matmul__
    ndarray.__mod__ ndarray.__mul__ ndarray.__neg__ ndarray.__pos__ ndarray.__pow__
    ndarray.__sub__ ndarray.__truediv__ ndarray.astype ndarray.choose ndarray.clip
    ndarray.compress ndarray.conj ndarray.conjugate ndarray.copy ndarray.cumprod ndarray.cumsum
    ndarray.diagonal ndarray.dot ndarray.flatten ndarray.imag ndarray.mT ndarray.max
    ndarray.mean ndarray.min ndarray.prod ndarray.ravel ndarray.real ndarray.repeat
    ndarray.reshape ndarray.squeeze ndarray.std ndarray.sum ndarray.swapaxes ndarray.take
    ndarray.trace ndarray.transpose ndarray.var ndarray.view negative outer pad partition
    percentile piecewise place poly polyadd polyder polydiv polyfit polyint polymul polysub
    polyval positive power prod ptp put put_along_axis quantile rad2deg radians ravel real
    reciprocal repeat reshape resize roll rollaxis roots rot90 scipy.linalg.block_diag
    scipy.linalg.cho_factor scipy.linalg.cho_solve scipy.linalg.cholesky scipy.linalg.circulant
    scipy.linalg.companion scipy.linalg.convolution_matrix scipy.linalg.det scipy.linalg.eigh
    scipy.linalg.expm scipy.linalg.expm_frechet scipy.linalg.fiedler scipy.linalg.hankel
    scipy.linalg.inv scipy.linalg.leslie scipy.linalg.lu scipy.linalg.lu_factor
    scipy.linalg.lu_solve scipy.linalg.polar scipy.linalg.qr scipy.linalg.solve
    scipy.linalg.solve_triangular scipy.linalg.svd scipy.linalg.toeplitz scipy.special.beta
    scipy.special.betainc scipy.special.betaln scipy.special.boxcox scipy.special.boxcox1p
    scipy.special.comb scipy.special.dawsn scipy.special.digamma scipy.special.entr
    scipy.special.erf scipy.special.erfc scipy.special.erfcx scipy.special.erfinv
    scipy.special.exp1 scipy.special.expi scipy.special.expit scipy.special.expn
    scipy.special.factorial scipy.special.fresnel scipy.special.gamma scipy.special.gammainc
    scipy.special.gammaincc scipy.special.gammaln scipy.special.hyp1f1 scipy.special.hyp2f1
    scipy.special.i0 scipy.special.i0e scipy.special.i1 scipy.special.i1e scipy.special.kl_div
    scipy.special.log_ndtr scipy.special.log_softmax scipy.special.loggamma scipy.special.logit
    scipy.special.logsumexp scipy.special.multigammaln scipy.special.ndtr scipy.special.ndtri
    scipy.special.owens_t scipy.special.poch scipy.special.polygamma scipy.special.rel_entr
    scipy.special.sici scipy.special.softmax scipy.special.spence scipy.special.wofz
    scipy.special.xlog1py scipy.special.xlogy scipy.special.zeta select sin sinc sinh sort
    sort_complex split sqrt square squeeze stack std subtract sum swapaxes take take_along_axis
    tan tanh tensordot tile trace transpose trapezoid tril trim_zeros triu unstack unwrap
    vander var vdot vecdot vecmat vsplit vstack where
""")
#: Tried in all of them, and differentiated by none.
NEITHER = _names("""
    asanyarray ascontiguousarray asfortranarray copyto emath.arccos emath.arcsin emath.arctanh
    emath.log emath.log10 emath.log2 emath.logn emath.power emath.sqrt ndarray.__setitem__
    ndarray.fill ndarray.flat ndarray.item ndarray.partition ndarray.put ndarray.resize
    ndarray.sort ndarray.tolist putmask require scipy.linalg.cdf2rdf
    scipy.linalg.cho_solve_banded scipy.linalg.cholesky_banded
    scipy.linalg.clarkson_woodruff_transform scipy.linalg.coshm scipy.linalg.cosm
    scipy.linalg.cossin scipy.linalg.eig scipy.linalg.eig_banded scipy.linalg.eigh_tridiagonal
    scipy.linalg.eigvals scipy.linalg.eigvals_banded scipy.linalg.eigvalsh
    scipy.linalg.eigvalsh_tridiagonal scipy.linalg.expm_cond scipy.linalg.fiedler_companion
    scipy.linalg.fractional_matrix_power scipy.linalg.funm scipy.linalg.hessenberg
    scipy.linalg.khatri_rao scipy.linalg.ldl scipy.linalg.logm scipy.linalg.lstsq
    scipy.linalg.matmul_toeplitz scipy.linalg.matrix_balance scipy.linalg.norm
    scipy.linalg.null_space scipy.linalg.ordqz scipy.linalg.orth
    scipy.linalg.orthogonal_procrustes scipy.linalg.pinv scipy.linalg.pinvh
    scipy.linalg.qr_delete scipy.linalg.qr_insert scipy.linalg.qr_multiply
    scipy.linalg.qr_update scipy.linalg.qz scipy.linalg.rq scipy.linalg.rsf2csf
    scipy.linalg.schur scipy.linalg.signm scipy.linalg.sinhm scipy.linalg.sinm
    scipy.linalg.solve_circulant scipy.linalg.solve_continuous_are
    scipy.linalg.solve_continuous_lyapunov scipy.linalg.solve_discrete_are
    scipy.linalg.solve_discrete_lyapunov scipy.linalg.solve_lyapunov
    scipy.linalg.solve_toeplitz scipy.linalg.solveh_banded scipy.linalg.subspace_angles
    scipy.linalg.svdvals scipy.linalg.tanhm scipy.linalg.tanm scipy.special.agm
    scipy.special.airy scipy.special.airye scipy.special.assoc_legendre_p scipy.special.bdtr
    scipy.special.bdtrc scipy.special.bdtri scipy.special.bdtrik scipy.special.bdtrin
    scipy.special.bei scipy.special.beip scipy.special.ber scipy.special.berp
    scipy.special.besselpoly scipy.special.betaincc scipy.special.betainccinv
    scipy.special.betaincinv scipy.special.binom scipy.special.btdtria scipy.special.btdtrib
    scipy.special.cbrt scipy.special.chdtr scipy.special.chdtrc scipy.special.chdtri
    scipy.special.chdtriv scipy.special.chndtr scipy.special.chndtridf scipy.special.chndtrinc
    scipy.special.chndtrix scipy.special.cosdg scipy.special.cosm1 scipy.special.cotdg
    scipy.special.diric scipy.special.ellip_harm scipy.special.ellipe scipy.special.ellipeinc
    scipy.special.ellipj scipy.special.ellipk scipy.special.ellipkinc scipy.special.ellipkm1
    scipy.special.elliprc scipy.special.elliprd scipy.special.elliprf scipy.special.elliprg
    scipy.special.elliprj scipy.special.erfi scipy.special.eval_chebyc
    scipy.special.eval_chebys scipy.special.eval_chebyt scipy.special.eval_chebyu
    scipy.special.eval_gegenbauer scipy.special.eval_genlaguerre scipy.special.eval_hermite
    scipy.special.eval_hermitenorm scipy.special.eval_jacobi scipy.special.eval_laguerre
    scipy.special.eval_legendre scipy.special.eval_sh_chebyt scipy.special.eval_sh_chebyu
    scipy.special.eval_sh_jacobi scipy.special.eval_sh_legendre scipy.special.exp10
    scipy.special.exp2 scipy.special.expm1 scipy.special.exprel scipy.special.fdtr
    scipy.special.fdtrc scipy.special.fdtri scipy.special.fdtridfd scipy.special.gammainccinv
    scipy.special.gammaincinv scipy.special.gdtr scipy.special.gdtrc scipy.special.gdtria
    scipy.special.gdtrib scipy.special.gdtrix scipy.special.h1vp scipy.special.h2vp
    scipy.special.hankel1 scipy.special.hankel1e scipy.special.hankel2 scipy.special.hankel2e
    scipy.special.huber scipy.special.hyp0f1 scipy.special.hyperu scipy.special.inv_boxcox
    scipy.special.inv_boxcox1p scipy.special.it2i0k0 scipy.special.it2j0y0
    scipy.special.it2struve0 scipy.special.itairy scipy.special.iti0k0 scipy.special.itj0y0
    scipy.special.itmodstruve0 scipy.special.itstruve0 scipy.special.ivp scipy.special.jv
    scipy.special.jve scipy.special.jvp scipy.special.k0 scipy.special.k0e scipy.special.k1
    scipy.special.k1e scipy.special.kei scipy.special.keip scipy.special.kelvin
    scipy.special.ker scipy.special.kerp scipy.special.kn scipy.special.kolmogi
    scipy.special.kolmogorov scipy.special.kv scipy.special.kve scipy.special.kvp
    scipy.special.lambertw scipy.special.legendre_p scipy.special.log1p scipy.special.log_expit
    scipy.special.log_wright_bessel scipy.special.lpmv scipy.special.mathieu_a
    scipy.special.mathieu_b scipy.special.mathieu_cem scipy.special.mathieu_modcem1
    scipy.special.mathieu_modcem2 scipy.special.mathieu_modsem1 scipy.special.mathieu_modsem2
    scipy.special.mathieu_sem scipy.special.modfresnelm scipy.special.modfresnelp
    scipy.special.modstruve scipy.special.nbdtr scipy.special.nbdtrc scipy.special.nbdtri
    scipy.special.nbdtrik scipy.special.nbdtrin scipy.special.ncfdtr scipy.special.ncfdtri
    scipy.special.ncfdtridfd scipy.special.ncfdtridfn scipy.special.ncfdtrinc
    scipy.special.nctdtr scipy.special.nctdtridf scipy.special.nctdtrinc scipy.special.nctdtrit
    scipy.special.ndtri_exp scipy.special.nrdtrimn scipy.special.nrdtrisd
    scipy.special.obl_ang1 scipy.special.obl_ang1_cv scipy.special.obl_cv
    scipy.special.obl_rad1 scipy.special.obl_rad1_cv scipy.special.obl_rad2
    scipy.special.obl_rad2_cv scipy.special.pbdv scipy.special.pbvv scipy.special.pbwa
    scipy.special.pdtr scipy.special.pdtrc scipy.special.pdtri scipy.special.pdtrik
    scipy.special.powm1 scipy.special.pro_ang1 scipy.special.pro_ang1_cv scipy.special.pro_cv
    scipy.special.pro_rad1 scipy.special.pro_rad1_cv scipy.special.pro_rad2
    scipy.special.pro_rad2_cv scipy.special.pseudo_huber scipy.special.radian
    scipy.special.shichi scipy.special.sinc scipy.special.sindg scipy.special.smirnov
    scipy.special.smirnovi scipy.special.softplus scipy.special.sph_harm_y
    scipy.special.sph_legendre_p scipy.special.spherical_in scipy.special.spherical_jn
    scipy.special.spherical_kn scipy.special.spherical_yn scipy.special.stdtr
    scipy.special.stdtridf scipy.special.stdtrit scipy.special.struve scipy.special.tandg
    scipy.special.tklmbda scipy.special.voigt_profile scipy.special.wright_bessel
    scipy.special.wrightomega scipy.special.yv scipy.special.yve scipy.special.yvp
    scipy.special.zetac union1d unique unique_values
""")
PEERS = {
    "JAX": JAX,
    "autograd": AUTOGRAD,
    "autograd, reverse only": AUTOGRAD_REVERSE,
    "autograd, forward only": AUTOGRAD_FORWARD,
}


def peers_of(name: str) -> tuple[str, ...]:
    """The libraries that differentiate a function, such as "sin" or "scipy.special.erf".

    >>> peers_of("sin"), peers_of("scipy.special.kv")
    (('JAX', 'autograd'), ())
    """
    return tuple(peer for peer, names in PEERS.items() if name in names)
