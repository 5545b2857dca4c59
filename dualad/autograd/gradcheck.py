"""gradcheck and gradgradcheck: first and second derivatives against central differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..engine.requires_grad.grad_mode import enable_grad
from ..errors import DualADError
from ..tensor import Tensor
from .checking.differences import Differences
from .checking.jacobians import BACKWARD, FORWARD
from .checking.properties import (
    batched_gradients,
    batched_tangents,
    dtypes_of_gradients,
    dtypes_of_tangents,
    linear_in_gradients,
    linear_in_tangents,
    undefined_gradients,
)
from .checking.report import GradcheckError, GradcheckInputError
from .checking.second_order import grad_outputs_for, gradients_of
from .checking.subject import Subject, as_list
from .checking.values import Check, compare, compare_fast

__all__ = ["GradcheckError", "GradcheckInputError", "gradcheck", "gradgradcheck"]

#: Cotangents and directions are random, but the same in every run: a verdict repeats.
SEED = 20


class _Options(NamedTuple):
    """What is to be checked, how closely."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    undefined: bool
    dtypes: bool
    batched: bool
    batched_forward: bool
    forward: bool
    backward: bool
    fast: bool


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the derivatives of a function at a point against central differences.

    Every entry of every Jacobian is compared. Checked besides: that two runs of backward give
    the same, that derivatives are linear in the gradients or tangents they are given, and that an
    undefined gradient counts as zero. Complex inputs and outputs count as pairs of reals.

    Args:
        func: gives a tensor or a sequence of tensors. It is called many times, and may not write
            to its inputs. Outputs that do not require grad are not checked, unless none does:
            then all must be constant.
        inputs: its arguments; the tensors that require grad are checked, others pass through.
            They are moved in place and put back, so that backward may also be checked of a func
            that reads them by closure. One that shares memory with itself (`expand`) or with an
            earlier one is replaced by a copy.
        eps: the step of the differences; larger in entries above about 1e6 (float64), where
            rounding asks for it.
        atol, rtol: an entry may differ by atol + rtol * |numeric|.
        raise_exception: raise the error; if False, return False. Errors of func itself, and of
            arguments of gradcheck, are raised in any case.
        nondet_tol: how much two runs of the same derivative may differ.
        check_undefined_grad: check that backward accepts undefined gradients of outputs.
        check_grad_dtypes: check that gradients have the dtype of inputs, tangents of outputs.
        check_batched_grad: check backward under vmap.
        check_batched_forward_grad: check forward mode under vmap; needs check_forward_ad.
        check_forward_ad: check forward mode.
        check_backward_ad: check reverse mode.
        fast_mode: compare one random projection of each Jacobian, the same in each run, and the
            whole only if that differs. Quick for large arrays, but it can overlook an error in
            few of many entries. Complex numbers are welcome.
        masked: accepted as in PyTorch; it concerns sparse tensors, of which there are none here.

    Returns:
        True; False if a check failed and raise_exception is False.

    Raises:
        GradcheckError: a check failed. The message names the Jacobian, output, input, entry, both
            values, their difference and the tolerance; so does the attribute `mismatch`.
        DualADError: a derivative refused to be computed.
        GradcheckInputError: nothing to check, or a combination of options without meaning.

    Warns:
        UserWarning: an input is not in double precision.

    >>> import numpy as np, dualad
    >>> from dualad.autograd.gradcheck import GradcheckError, gradcheck
    >>> x = dualad.tensor(np.array([0.5, 2.0]), requires_grad=True)
    >>> gradcheck(lambda x: x.sin() * x, (x,), check_forward_ad=True)
    True

    A detached factor is taken for a constant, and the error says where that shows:

    >>> try:
    ...     gradcheck(lambda x: x * x.detach(), (x,))
    ... except GradcheckError as error:
    ...     wrong = error.mismatch
    >>> wrong.place
    'output 0 with respect to input 0, by backward (reverse mode)'
    >>> wrong.output_entry, wrong.input_entry, wrong.analytic, round(wrong.numeric, 6)
    ((1,), (1,), 2.0, 4.0)
    """
    options = _Options(
        eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad,
        check_batched_forward_grad, check_forward_ad, check_backward_ad, fast_mode,
    )  # fmt: skip
    _refuse(options, "check_forward_ad", "check_backward_ad")
    with enable_grad():
        subject = Subject(func, as_list(inputs))
        _warn_of_precision(subject)
        return _verdict(lambda: _run(subject, options), raise_exception)


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check second derivatives: those of the gradients, by `gradcheck`.

    The gradients are functions of the inputs and of the gradients of the outputs, and are checked
    as such. That first derivatives are right is not checked here.

    Args:
        func, inputs: as for `gradcheck`.
        grad_outputs: one gradient for each output that requires grad, checked if it requires grad
            itself. By default random ones that do.
        gen_non_contig_grad_outputs: whether those lie in memory with gaps.
        check_fwd_over_rev: check forward mode through backward.
        check_rev_over_rev: check reverse mode through backward.
        eps, atol, rtol, raise_exception, nondet_tol, check_undefined_grad, check_grad_dtypes,
            check_batched_grad, fast_mode, masked: as for `gradcheck`.

    Returns:
        True; False if a check failed and raise_exception is False.

    Raises:
        GradcheckError, DualADError, GradcheckInputError: as `gradcheck`. A backward that cannot be
            differentiated is a DualADError.

    >>> import numpy as np, dualad
    >>> from dualad.autograd.gradcheck import gradgradcheck
    >>> x = dualad.tensor(np.array([0.5, 2.0]), requires_grad=True)
    >>> gradgradcheck(lambda x: (x**3).sum(), (x,), check_fwd_over_rev=True)
    True
    """
    options = _Options(
        eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, check_batched_grad,
        False, check_fwd_over_rev, check_rev_over_rev, fast_mode,
    )  # fmt: skip
    _refuse(options, "check_fwd_over_rev", "check_rev_over_rev")
    with enable_grad():
        args = as_list(inputs)
        random, gaps = np.random.default_rng(SEED), gen_non_contig_grad_outputs
        given = grad_outputs_for(as_list(func(*args)), grad_outputs, random, gaps)

        def check() -> None:
            _run(gradients_of(func, args, given), options)

        return _verdict(check, raise_exception)


def _verdict(check: Callable[[], None], raise_exception: bool) -> bool:
    try:
        check()
    except GradcheckInputError:
        raise
    except DualADError:
        if raise_exception:
            raise
        return False
    return True


def _refuse(options: _Options, forward: str, backward: str) -> None:
    """Refuse options without meaning; `forward` and `backward` are the names of the two modes."""
    if not (options.forward or options.backward):
        raise GradcheckInputError(f"nothing to check: at least one of {forward} and {backward}")
    if options.batched and not options.backward:
        raise GradcheckInputError(f"check_batched_grad=True needs {backward}=True")
    if options.batched_forward and not options.forward:
        raise GradcheckInputError(f"check_batched_forward_grad=True needs {forward}=True")
    if not (np.isfinite(options.eps) and options.eps > 0):
        raise GradcheckInputError(f"eps must be a positive number, got {options.eps!r}")


def _warn_of_precision(subject: Subject) -> None:
    for x in subject.inputs:
        if np.finfo(x.tensor.dtype).eps > np.finfo(np.float64).eps:
            warnings.warn(
                f"{x.name} requires grad and is {x.tensor.dtype}, not in double precision: its "
                f"numeric derivatives are rough, and the check will likely fail. Give a float64 "
                f"or complex128 tensor",
                UserWarning,
                stacklevel=3,
            )


def _run(subject: Subject, options: _Options) -> None:
    check = Check(
        subject,
        Differences(subject, options.eps),
        options.atol,
        options.rtol,
        options.nondet_tol,
        np.random.default_rng(SEED),
    )
    _values(check, options)
    if options.backward and options.undefined:
        undefined_gradients(check)
    if options.backward and options.dtypes:
        dtypes_of_gradients(check)
    if options.forward and options.dtypes:
        dtypes_of_tangents(check)
    if options.batched:
        batched_gradients(check)
    if options.batched_forward:
        batched_tangents(check)


def _values(check: Check, options: _Options) -> None:
    wanted = ((BACKWARD, options.backward), (FORWARD, options.forward))
    modes = [mode for mode, on in wanted if on]
    if options.fast and compare_fast(check, modes):
        return
    linear = {BACKWARD: linear_in_gradients, FORWARD: linear_in_tangents}
    for mode, found in zip(modes, compare(check, modes), strict=True):
        linear[mode](check, found)
