"""PyTorch's `torch.autograd`: backward and grad on tensors, custom functions, forward mode."""

from ..engine.requires_grad.grad_mode import (
    enable_grad,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from . import forward_ad, function, graph
from .backward import backward, grad
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "enable_grad",
    "forward_ad",
    "function",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "is_grad_enabled",
    "no_grad",
    "set_grad_enabled",
]
