"""An uncertainty budget: the length of an end gauge, example H.1 of the GUM (JCGM 100:2008).

    l = ls + d - ls (da theta + as dt)

A gauge is compared with a standard of known length ls; d is the difference that the comparator
shows, theta the deviation of the temperature from 20 degrees, as the expansion coefficient of the
standard, and da and dt are the differences of the two gauges in expansion and temperature. The
last two are estimated as zero, so that their sensitivities by theta and as vanish: their products
matter at second order alone, which the GUM finds to be 34 nm in place of 32 nm.
"""

import warnings

import numpy as np

from dualad import sensitivity as ds

params = {
    "ls": ds.Parameter(50_000_623.0, u=25.0, unit="nm", dof=18, label="standard"),
    "d": ds.Parameter(215.0, u=9.7, unit="nm", dof=25.6, label="comparison"),
    "as": ds.Parameter(11.5e-6, u=1.2e-6, unit="1/K", label="expansion"),
    "theta": ds.Parameter(-0.1, u=0.41, unit="K", label="temperature"),
    "da": ds.Parameter(0.0, u=0.58e-6, unit="1/K", dof=50, label="difference of expansions"),
    "dt": ds.Parameter(0.0, u=0.029, unit="K", dof=2, label="difference of temperatures"),
}
units = {"length": "nm"}
PICTURE = "gauge_block.png"


def model(p):
    return {"length": p.ls + p.d - p.ls * (p.da * p.theta + p["as"] * p.dt)}


def draw(first, second, draws, path):
    """What each input contributes, and the density to first and to second order."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 5.6), layout="constrained")
    top, bottom = figure.subplots(2, 1)
    parts = np.abs(first.contributions()[0])
    order = np.argsort(parts)
    names = [first.parameters.label(n) for n in first.parameters.names]
    bars = top.barh([names[j] for j in order], parts[order], color="#0072B2")
    top.bar_label(bars, [f"{parts[j]:.1f}" for j in order], padding=3, fontsize=9)
    top.set(xlabel="contribution |∂l/∂p| u(p) (nm)", xlim=(0, 1.12 * parts.max()))
    top.set_title("What the inputs contribute, to first order", fontsize=11)

    shift = draws - first.values[0]
    bottom.hist(
        shift, np.linspace(-130, 130, 81), density=True, color="0.82", label="20 000 draws"
    )
    x = np.linspace(-130, 220, 400)
    for found, line, what in ((first, "--", "first order"), (second, "-", "second order")):
        u = found.u[0]
        density = np.exp(-((x / u) ** 2) / 2) / (u * np.sqrt(2 * np.pi))
        colour = "#D55E00" if line == "--" else "black"
        bottom.plot(x, density, line, color=colour, label=f"{what}, u = {u:.1f} nm")
    bottom.set(xlabel="length − 50 000 838 nm (nm)", ylabel="density (1/nm)", xlim=(-130, 220))
    bottom.legend(frameon=False, fontsize=9)
    for panel in (top, bottom):
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    with warnings.catch_warnings():
        # Both warn that curvature matters, which the budget says as well.
        warnings.simplefilter("ignore", ds.SensitivityWarning)
        first = ds.propagate(model, params, level=0.99)
        second = ds.propagate(model, params, order=2)
    print(first.budget(), "\n")
    gum = np.sqrt(ds.gum_second_order(first.result))[0]
    print(f"to second order: u = {second.u[0]:.1f} nm; the GUM's formula: {gum:.1f} nm")
    draws = ds.ensemble(model, ds.sample(params, 20_000, "normal", seed=1), params=params)
    print(f"standard deviation of 20 000 draws: {draws.std()[0]:.1f} nm")
    draw(first, second, draws.values[:, 0], PICTURE)
    print(f"picture: {PICTURE}")
