"""An ensemble on a cluster: the course of an epidemic for 60 draws of what is not known of it.

    S' = -beta S I / N,  I' = beta S I / N - gamma I,  R' = gamma I

Each member is an integration with its sensitivities, and a task of its own. Here two workers of a
dask cluster on this machine run them; `dask.distributed.Client("tcp://...")` is a cluster
elsewhere, for which nothing else changes. On the command line the same is

    dualad sens ensemble examples/epidemic.py --sample 60 --method normal --jobs 2
"""

import numpy as np

from dualad import sensitivity as ds

N = 10_000.0
params = {
    "beta": ds.Parameter(0.45, u=0.04, unit="1/d", scale="log", label="contacts β"),
    "gamma": ds.Parameter(0.18, u=0.015, unit="1/d", scale="log", label="recovery γ"),
    "I0": ds.Parameter(10.0, u=4.0, scale="log", label="first cases I₀"),
}
t_span, t_eval = (0.0, 90.0), np.linspace(0.0, 90.0, 61)
units = {"S": "persons", "I": "persons", "R": "persons"}
time_unit = "d"
method, rtol, atol = "LSODA", 1e-7, 1e-6
PICTURE = "epidemic.png"


def y0(p):
    return {"S": N - p.I0, "I": p.I0, "R": 0.0}


def rhs(t, y, p):
    infected, recovered = p.beta * y[0] * y[1] / N, p.gamma * y[1]
    return np.array([-infected, infected - recovered, recovered])


problem = ds.problem(
    ds.ode, rhs, y0, params, t_span, t_eval=t_eval, method=method, rtol=rtol, atol=atol
)


def run(sets):
    """On a local dask cluster; on threads where dask is not installed."""
    try:
        from dask.distributed import Client
    except ImportError:
        from concurrent.futures import ThreadPoolExecutor

        print("dask is not installed (pip install 'dualad[dask]'): two threads instead")
        with ThreadPoolExecutor(2) as pool:
            return ds.ensemble(problem, sets, executor=pool)
    with Client(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=":0") as c:
        return ds.ensemble(problem, sets, executor=c)


def draw(members, path):
    """The infected over time, and what their number owes to each parameter."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 5.8), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True)
    t, infected = members.t, members.values[:, :, 1]
    low, middle, high = members.quantiles((0.025, 0.5, 0.975))[:, :, 1]
    top.fill_between(t, low, high, color="0.85", label="95 % of the members")
    top.plot(t, infected[:15].T, color="0.55", lw=0.5)
    top.plot(t, middle, color="black", lw=1.8, label="median")
    top.set(ylabel="infected I (persons)", ylim=(0, None), xlim=(0, 90))
    top.legend(frameon=False)

    value = ds.Parameters(params)
    lines = [("-", "#0072B2"), ("--", "#D55E00"), (":", "black")]
    for j, (name, (line, colour)) in enumerate(zip(value, lines, strict=True)):
        slopes = members.jacobian[:, :, 1, j] * value.parameter(name).u
        bottom.plot(t, np.median(slopes, axis=0), line, color=colour, label=value.label(name))
        bottom.fill_between(
            t, *np.quantile(slopes, (0.25, 0.75), axis=0), color=colour, alpha=0.18, lw=0
        )
    bottom.axhline(0.0, color="0.6", lw=0.8)
    bottom.set(xlabel="time (d)", ylabel="∂I/∂p u(p) (persons)")
    bottom.set_title("Median and middle half of the members", fontsize=10)
    bottom.legend(frameon=False)
    for panel in (top, bottom):
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    sets = ds.sample(params, 60, "normal", seed=3)
    members = run(sets)
    print(f"{len(members)} members, {len(members.failed)} failed")
    peak = members.values[:, :, 1].max(axis=1)
    day = members.t[members.values[:, :, 1].argmax(axis=1)]
    for what, x, unit in (("height of the peak", peak, "persons"), ("day of the peak", day, "")):
        low, middle, high = np.quantile(x, (0.025, 0.5, 0.975))
        print(f"{what}: {middle:.0f} {unit} (95 % within {low:.0f} to {high:.0f})")
    draw(members, PICTURE)
    print(f"picture: {PICTURE}")
