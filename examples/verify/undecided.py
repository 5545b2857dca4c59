"""A formula that is right and beyond what SymPy simplifies: it is not called proved.

That y0 / j0 has the slope 2 / (pi x j0**2) says that the Wronskian of the two Bessel functions is
2 / (pi x). The report tells what was seen in 50-digit arithmetic instead.
"""

import numpy as np
from scipy import special

from dualad.verify import Case


def ratio(x):
    return special.y0(x) / special.j0(x)


def slope(x):
    return 2 / (np.pi * x * special.j0(x) ** 2)


VERIFY = [
    Case((ratio, slope), assume="0 < x < 2", limit=5, expect="undecided", by="prove"),
]

if __name__ == "__main__":
    from dualad.verify import prove

    print(prove(ratio, slope, assume="0 < x < 2", limit=5))
