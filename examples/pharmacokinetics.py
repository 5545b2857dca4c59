"""A drug in the blood: a model of absorption and elimination fitted to one patient's data.

    gut -> blood      at the rate ka * gut; in blood it is spread over the volume V
    blood -> out      at the rate ke * concentration

The data are subject 1 of the theophylline study of R. A. Upton (in Boeckmann, Sheiner and Beal,
NONMEM Users Guide, part V, 1994): 11 concentrations after an oral dose of 4.02 mg per kg of body
weight. The differential equations are solved with their sensitivities, which are the Jacobian of
the fit; from its covariance follow a band for the course, one for new observations, and the
uncertainty budget of what a physician asks for. The fit alone is

    dualad sens fit examples/pharmacokinetics.py --plot fit.png
"""

import numpy as np

from dualad import sensitivity as ds

TIME = np.array([0.0, 0.25, 0.57, 1.12, 2.02, 3.82, 5.1, 7.03, 9.05, 12.12, 24.37])
SEEN = np.array([0.74, 2.84, 6.57, 10.5, 9.66, 8.58, 8.36, 7.47, 6.89, 5.94, 3.28])

DOSE = 4.02
params = {
    "ka": ds.Parameter(1.0, unit="1/h", scale="log"),
    "ke": ds.Parameter(0.1, unit="1/h", scale="log"),
    "V": ds.Parameter(0.5, unit="L/kg", scale="log"),
}
states = ("gut", "concentration")
y0 = [DOSE, 0.0]
t_span = (0.0, 25.0)
method, rtol, atol = "LSODA", 1e-6, 1e-8
units, time_unit = {"gut": "mg/kg", "concentration": "mg/L"}, "h"
data = {"t": TIME, "concentration": SEEN}


def rhs(t, y, p):
    absorbed = p.ka * y[0]
    return [-absorbed, absorbed / p.V - p.ke * y[1]]


def course(p, times=TIME):
    """The concentration at some times, with its derivatives by the parameters."""
    return ds.ode(
        rhs, y0, p, t_span, t_eval=times, states=states, method=method, rtol=rtol, atol=atol
    )


def exposure(p):
    """What a physician asks for: exposure, half-life, and when the concentration is highest."""
    return {
        "area": DOSE / (p.V * p.ke),
        "half-life": np.log(2.0) / p.ke,
        "time of peak": np.log(p.ka / p.ke) / (p.ka - p.ke),
    }


def draw(fit, path):
    """Data, estimate and both bands."""
    from matplotlib.figure import Figure

    fine = np.concatenate([np.linspace(0.0, 4.0, 80), np.linspace(4.1, 25.0, 80)])
    shown = {
        kind: fit.predict(lambda p: course(p, fine), kind=kind)
        for kind in ("prediction", "confidence")
    }
    figure = Figure(figsize=(6.5, 4.0), layout="constrained")
    panel = figure.subplots()
    look = {"prediction": ("0.88", "a new observation"), "confidence": ("0.65", "the course")}
    for kind, band in shown.items():
        at = band.outputs.index("concentration")
        low, high = (edge[:, at] for edge in band.interval())
        colour, what = look[kind]
        panel.fill_between(fine, low, high, color=colour, lw=0, label=f"95 % for {what}")
    panel.plot(fine, shown["confidence"].mean[:, at], color="#0072B2", lw=2, label="estimate")
    panel.plot(TIME, SEEN, "o", color="black", mfc="white", ms=5, label="data")
    panel.set_xlabel("time after the dose (h)")
    panel.set_ylabel("theophylline in plasma (mg/L)")
    panel.set_xlim(-0.4, 25.0)
    panel.set_ylim(bottom=0.0)
    panel.legend(frameon=False)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    figure.savefig(path, dpi=200)


if __name__ == "__main__":
    fit = ds.fit(course, params, {"concentration": SEEN})
    print(fit.report())
    print("Profile intervals\n\n", fit.confidence_intervals(method="profile"), "\n", sep="")
    units = {"area": "mg h/L", "half-life": "h", "time of peak": "h"}
    print(fit.predict(exposure, units=units).budget())
    draw(fit, "pharmacokinetics.png")
    print("\nThe picture is pharmacokinetics.png")
