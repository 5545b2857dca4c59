"""Doses by mouth: a drug in gut and blood, four tablets, and a patient who takes one late.

    gut'   = -ka gut                      a tablet adds its dose at its time
    blood' = ka gut - (CL / V) blood      the concentration is blood / V

Each tablet is an event at a time that is a parameter. So the result says how the concentration
moves with the pharmacokinetic constants, with the dose, and with the time at which a tablet was
taken; and so does the time at which the concentration last falls below the effective level.
"""

import numpy as np

from dualad import sensitivity as ds

params = ds.Parameters(
    {
        "ka": ds.Parameter(1.1, u=0.15, unit="1/h"),
        "CL": ds.Parameter(3.2, u=0.3, unit="L/h"),
        "V": ds.Parameter(25.0, u=2.0, unit="L"),
        "dose": ds.Parameter(120.0, u=3.0, unit="mg"),
        "t1": ds.Parameter(0.0, fixed=True, unit="h"),
        "t2": ds.Parameter(8.0, u=0.25, unit="h"),
        "t3": ds.Parameter(18.0, u=0.25, unit="h"),  # two hours late
        "t4": ds.Parameter(24.0, u=0.25, unit="h"),
    }
)
t_span = (0.0, 40.0)
units, time_unit = {"gut": "mg", "blood": "mg", "concentration": "mg/L", "exposure": "mg h/L"}, "h"
method = "DOP853"
rtol = atol = 1e-8
LEVEL = 2.5  # mg/L
PICTURE = "hybrid_dosing.png"


def y0(p):
    """The first tablet is taken at the start; the others are events."""
    return {"gut": p.dose, "blood": 0.0}


def rhs(t, y, p):
    gut, blood = y
    return np.array([-p.ka * gut, p.ka * gut - p.CL / p.V * blood])


def tablet(name):
    """A dose at the time that a parameter holds."""
    return ds.Event(
        lambda t, y, p: t - p[name], lambda t, y, p: {"gut": y[0] + p.dose}, name=f"tablet {name}"
    )


def below(t, y, p):
    return concentration(t, y, p) - LEVEL


def concentration(t, y, p):
    return y[1] / p.V


events = [tablet(name) for name in ("t2", "t3", "t4")]
events += [ds.Event(below, direction=-1, name="below the level")]
outputs = {"concentration": concentration}
integrals = {"exposure": concentration}


def draw(result, path):
    """The concentration with its band, and the share of each parameter in its variance."""
    import matplotlib.pyplot as plt

    t = np.linspace(0.0, 40.0, 800)
    y, s = result.at(t)
    i = result.outputs.index("concentration")
    shares = (s[:, i] * result.parameters.u) ** 2
    spread = np.sqrt(shares.sum(axis=1))
    figure, (top, bottom) = plt.subplots(
        2, 1, figsize=(7.0, 6.8), sharex=True, layout="constrained"
    )
    top.fill_between(t, y[:, i] - 2 * spread, y[:, i] + 2 * spread, color="0.8", label="± 2 u")
    top.plot(t, y[:, i], color="black", label="concentration")
    top.axhline(LEVEL, color="black", lw=0.8, ls=":")
    top.text(39.6, LEVEL + 0.08, "effective", ha="right", va="bottom", fontsize=9)
    for name in ("t1", "t2", "t3", "t4"):
        top.plot(params[name], 0.1, "^", color="black", ms=7, clip_on=False)
    top.plot([], [], "^", color="black", ls="", label="tablet")
    last = result.events["below the level"]
    top.plot(last.times[-1:], [LEVEL], "o", mfc="white", mec="black", zorder=3)
    top.set(ylabel="concentration (mg/L)", ylim=(0, None), xlim=(0, 40))
    top.set_title("Four tablets, the third two hours late")
    top.legend(loc="upper left", ncols=3)

    colours = plt.get_cmap("viridis")(np.linspace(0.0, 1.0, len(result.parameters)))
    hatches = ("", "//", "", "\\\\", "", "..", "")
    part = shares / np.where(spread[:, None] > 0, spread[:, None] ** 2, 1.0)
    areas = bottom.stackplot(
        t, 100 * part.T, labels=result.parameters.names, colors=colours, edgecolor="white", lw=0.4
    )
    for area, hatch in zip(areas, hatches, strict=True):
        area.set_hatch(hatch)
    bottom.set(xlabel="time (h)", ylabel="share of the variance (%)", ylim=(0, 100))
    bottom.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=len(result.parameters))
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    result = ds.ode(
        rhs, y0, params, t_span, outputs=outputs, integrals=integrals, events=events,
        method=method, rtol=rtol, atol=atol, dense_output=True,
    )  # fmt: skip
    last = result.events["below the level"]
    print("when the concentration falls below the level, and how that time moves:\n")
    print(last.table())
    u = np.sqrt(((last.dt[-1] * result.parameters.u) ** 2).sum())
    print(f"\nthe last time: {last.times[-1]:.2f} h, standard uncertainty {u:.2f} h")
    exposure = result.integrals
    print(f"exposure to 40 h: {exposure.values[0]:.1f} mg h/L; its elasticities:")
    for name, value in zip(result.parameters, exposure.elasticity()[0], strict=True):
        print(f"    {name:5} {value:+.3f}")
    draw(result, PICTURE)
    print(f"picture: {PICTURE}")
