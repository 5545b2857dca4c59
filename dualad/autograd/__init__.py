"""PyTorch's `torch.autograd`: backward and grad on tensors, custom functions, forward mode."""

from ..engine.requires_grad.grad_mode import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from . import forward_ad, function, functional, graph
from .anomaly import detect_anomaly, set_detect_anomaly
from .backward import backward, grad
from .function import Function
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]
