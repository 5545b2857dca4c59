"""A metabolic network at steady state: which enzyme controls which flux?

                          store
                            ^ J4
    glucose --J1--> hexose --J2--> 2 triose --J3--> product       demand: ATP --J5--> ADP

The first reaction spends one ATP, the third earns two, and a demand turns it back to ADP, so that
ATP + ADP is conserved: the Jacobian of the rates is singular, and the total has to be found.
`dualad sens` takes `problem`, the steady state, and with metabolic_network.py:rhs the course.
Control coefficients say by how many per cent a steady flux or concentration moves when an enzyme
becomes 1 % faster (Heinrich and Rapoport, Eur. J. Biochem. 42, 1974).
"""

import numpy as np

from dualad import sensitivity as ds

params = {
    "glucose": ds.Parameter(5.0, unit="mM"),
    "V1": ds.Parameter(1.4, unit="mM/min", label="hexokinase"),
    "V2": ds.Parameter(3.0, unit="mM/min", label="aldolase"),
    "V3": ds.Parameter(2.5, unit="mM/min", label="pyruvate kinase"),
    "k4": ds.Parameter(0.08, unit="1/min", label="storage"),
    "k5": ds.Parameter(0.6, unit="1/min", label="demand"),
}
y0 = {"hexose": 1.0, "triose": 0.5, "ATP": 2.0, "ADP": 1.0}
states = tuple(y0)
t_span = (0.0, 60.0)
ENZYMES = {"J1": "V1", "J2": "V2", "J3": "V3", "J4": "k4", "J5": "k5"}


def rates(x, p):
    hexose, triose, atp, adp = x
    return {
        "J1": p.V1 * p.glucose / (0.1 + p.glucose) * atp / (0.3 + atp) / (1.0 + hexose),
        "J2": p.V2 * (hexose - 0.5 * triose) / (1.5 + hexose + triose),
        "J3": p.V3 * triose / (0.4 + triose) * adp / (0.5 + adp),
        "J4": p.k4 * hexose,
        "J5": p.k5 * atp,
    }


def change(x, p):
    v = rates(x, p)
    spent = -v["J1"] + 2.0 * v["J3"] - v["J5"]
    return [v["J1"] - v["J2"] - v["J4"], 2.0 * v["J2"] - v["J3"], spent, -spent]


def rhs(t, y, p):
    return change(y, p)


FLUXES = {name: lambda x, p, name=name: rates(x, p)[name] for name in ENZYMES}
units = dict.fromkeys(states, "mM") | dict.fromkeys(ENZYMES, "mM/min")
problem = ds.problem(ds.steady_state, change, y0, params, outputs=FLUXES, units=units)
time_unit = "min"


def draw(control, labels, path):
    """Both matrices of control coefficients; a number in each cell says what its shade means."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 6.2), layout="constrained")
    panels = figure.subplots(2, 1)
    parts = (("flux", control.flux), ("concentration", control.concentration))
    largest = max(np.abs(part.values).max() for _, part in parts)
    for panel, (what, part) in zip(panels, parts, strict=True):
        image = panel.imshow(part.values, "PuOr", vmin=-largest, vmax=largest, aspect="auto")
        panel.set_xticks(range(len(labels)), [name.replace(" ", "\n") for name in labels])
        panel.set_yticks(range(len(part.rows)), part.rows)
        panel.set_ylabel(f"steady {what}")
        for (i, j), value in np.ndenumerate(part.values):
            dark = abs(value) > 0.6 * largest
            panel.text(j, i, f"{value:+.2f}", ha="center", va="center",
                       color="white" if dark else "black", fontsize=9)  # fmt: skip
    panels[-1].set_xlabel("enzyme or process that becomes 1 % faster")
    figure.align_ylabels(panels)
    figure.colorbar(image, ax=panels, label="change (%)", shrink=0.6)
    figure.savefig(path, dpi=200)


if __name__ == "__main__":
    steady = problem({})
    print("conserved:", ", ".join(steady.totals))
    print("slowest eigenvalue:", f"{steady.eigenvalues()[0]:.4g} per minute\n")
    print(steady.table(scaled=True))
    control = steady.control_coefficients(rates)
    print("\nControl coefficients\n\n", control, "\n", sep="")
    print("sum over the enzymes of the control of J3:", f"{control.flux.values[2].sum():.12f}")
    labels = [ds.Parameters(params).label(p) for p in ENZYMES.values()]
    draw(control, labels, "metabolic_network.png")
    print("The picture is metabolic_network.png")
