"""Robertson's chemical kinetics: three species, three rate constants, times from 1e-5 to 1e10.

    A -> B             k1
    B + B -> B + C     k3
    B + C -> A + C     k2

H. H. Robertson, The solution of a set of reaction rate equations (1966), the usual test of a stiff
solver. `dualad sens examples/robertson.py` integrates it with its sensitivities by k1, k2 and k3.
"""

import numpy as np

params = {"k1": 0.04, "k2": 1e4, "k3": 3e7}
states = ("y1", "y2", "y3")
y0 = [1.0, 0.0, 0.0]
t_eval = 0.4 * 10.0 ** np.arange(12)
t_span = (0.0, t_eval[-1])
time_unit = "s"

# y2 is never larger than 4e-5 and falls to 2e-13: each state is measured on its own scale.
rtol = 1e-6
atol = [1e-14, 1e-20, 1e-12]

reference = "robertson_reference.csv"


def rhs(t, y, p):
    return np.array(
        [
            -p.k1 * y[0] + p.k2 * y[1] * y[2],
            p.k1 * y[0] - p.k2 * y[1] * y[2] - p.k3 * y[1] ** 2,
            p.k3 * y[1] ** 2,
        ]
    )


if __name__ == "__main__":
    from dualad import sensitivity as ds

    result = ds.ode(
        rhs, y0, params, t_span, t_eval=t_eval[:5], states=states, rtol=rtol, atol=atol, wrt=["k2"]
    )
    print(result.table())
