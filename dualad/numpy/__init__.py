"""NumPy, whose fresh arrays take part: `import dualad.numpy as np` for `import numpy as np`.

Every name of NumPy is here. While a transformation runs (`jvp`, `grad`, `vmap`, ...), what
`zeros`, `ones`, `empty`, `full`, `array`, `linspace` and their kin make is a buffer: an array
without a derivative that takes traced values by assignment. What `array` and `asarray` make of
traced values, alone or in lists, is a traced array. Outside of transformations all of it is plain
NumPy. A buffer behaves as an array, but is no `numpy.ndarray`: what insists on one refuses it.

>>> import dualad
>>> import dualad.numpy as np
>>> def powers(x):
...     y = np.zeros(3)
...     for k in range(3):
...         y[k] = x**k
...     return np.array([y[1], y[2]])
>>> dualad.jvp(powers, (3.0,), (1.0,))[1]
array([1., 6.])
>>> type(np.zeros(3)).__module__
'numpy'
"""

from typing import Any

import numpy as _numpy

from .fresh import *  # noqa: F403
from .fresh import __all__ as _fresh
from .functions import *  # noqa: F403
from .functions import __all__ as _functions

__all__ = sorted({*_numpy.__all__, *_fresh, *_functions})


def __getattr__(name: str) -> Any:
    return getattr(_numpy, name)


def __dir__() -> list[str]:
    return sorted({*dir(_numpy), *__all__})
