"""The names of PyTorch's functions of tensors that dualad has; `dualad.tensor.functions` has them.

A list by itself, so that `import dualad` need not import what makes them.
"""

__all__ = ["IN_PLACE", "METHODS", "OF_SEVERAL"]

#: Functions whose first argument is a tensor, of which they are methods too.
METHODS = frozenset(
    """
    abs absolute acos acosh add addcdiv addcmul addmm addmv addr all allclose amax amin angle any
    arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin argsort asin asinh atan
    atan2 atanh baddbmm bitwise_and bitwise_not bitwise_or bitwise_xor bmm broadcast_to ceil chunk
    clamp clamp_max clamp_min clip clone conj conj_physical copysign cos cosh count_nonzero cumprod
    cumsum deg2rad det detach diag diagonal diff div divide dot eq equal exp exp2 expm1 fix flatten
    flip floor floor_divide fmax fmin fmod frac gather ge greater greater_equal gt heaviside hypot
    index_add index_copy index_fill index_put index_select inner inverse is_complex
    is_floating_point isclose isfinite isinf isnan kron le lerp less less_equal log log10 log1p
    log2 log_softmax logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logsumexp
    lt masked_fill masked_scatter masked_select matmul max maximum mean min minimum mm moveaxis
    movedim mul multiply mv nan_to_num nanmean nansum narrow ne neg negative nextafter nonzero norm
    not_equal numel outer permute positive pow prod rad2deg ravel reciprocal relu remainder
    repeat_interleave reshape resolve_conj resolve_neg roll round rsqrt scatter scatter_add select
    sgn sigmoid sign signbit sin sinc sinh softmax sort split sqrt square squeeze std sub subtract
    sum swapaxes swapdims t take_along_dim tan tanh tile topk trace transpose tril triu true_divide
    trunc unbind unflatten unsqueeze var vdot
    """.split()
)
#: The same, which write into it.
IN_PLACE = frozenset(
    """
    abs_ acos_ acosh_ addmv_ arccos_ arccosh_ arcsin_ arcsinh_ arctan_ arctanh_ asin_ asinh_ atan_
    atanh_ ceil_ clamp_ clamp_max_ clamp_min_ clip_ conj_physical_ cos_ cosh_ deg2rad_ detach_
    exp2_ exp_ expm1_ fill_ fix_ floor_ frac_ index_put_ log10_ log1p_ log2_ log_ nan_to_num_ neg_
    negative_ rad2deg_ reciprocal_ relu_ round_ rsqrt_ sigmoid_ sin_ sinc_ sinh_ sqrt_ square_ tan_
    tanh_ trunc_ zero_
    """.split()
)
#: Functions that are no methods: of several tensors, of parts of one, questions.
OF_SEVERAL = frozenset(
    """
    broadcast_tensors cat concat concatenate einsum empty_like hstack imag is_tensor meshgrid
    rand_like randn_like real stack vstack where
    """.split()
)
