from .ops import elementwise, structure
from .transforms.forward import jvp
from .transforms.reverse import grad, value_and_grad, vjp, linearize
