"""dualad: forward-mode dual numbers for NumPy, with reverse mode as their transposition."""


from .engine.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .errors import DualADError
from . import autograd, func, ops
from .tensor import Tensor, as_tensor, ones, ones_like, tensor, zeros, zeros_like
from .transforms.batching import vmap
from .transforms.custom import custom_jvp, defelementwise, stop_gradient
from .transforms.forward import jvp
from .transforms.jacobian import hessian, hvp, jacfwd, jacobian, jacrev, value_and_jacobian
from .transforms.reverse import grad, linear_transpose, linearize, value_and_grad, vjp
from .types import (
    bool,
    complex64,
    complex128,
    double,
    float,
    float16,
    float32,
    float64,
    half,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    uint8,
)
from .version import __version__
