"""A ball that bounces: how much later would the tenth bounce be, were the floor a little softer?

    x' = v,  v' = -g        in the air
    v -> -e v               at the floor, x = 0

Each bounce is an event that causes the next one, so that its time depends on everything before.
The result has the times of the bounces as outputs of their own, with their derivatives by the
height of the fall, gravity and the coefficient of restitution e.
"""

import numpy as np

from dualad import sensitivity as ds

params = {
    "h": ds.Parameter(1.0, u=0.005, unit="m"),
    "g": ds.Parameter(9.81, u=0.005, unit="m/s²"),
    "e": ds.Parameter(0.85, u=0.002),
}
states = ("x", "v")
t_span = (0.0, 4.0)
units, time_unit = {"x": "m", "v": "m/s"}, "s"
method, rtol = "DOP853", 1e-9
PICTURE = "bouncing_ball.png"


def y0(p):
    return [p.h, 0.0]


def rhs(t, y, p):
    return np.array([y[1], -p.g])


def floor(t, y, p):
    return y[0]


def bounce(t, y, p):
    return [0.0, -p.e * y[1]]


events = [ds.Event(floor, bounce, direction=-1, name="bounce")]


def exact(n):
    """The time of bounce n and its derivatives by h, g and e, in closed form."""
    h, g, e = (p.value for p in params.values())
    first = np.sqrt(2 * h / g)
    t = first * (1 + 2 * sum(e**i for i in range(1, n)))
    by_e = first * 2 * sum(i * e ** (i - 1) for i in range(1, n))
    return t, np.array([t / (2 * h), -t / (2 * g), by_e])


def draw(result, path):
    """The flight with its band, and how far each bounce moves by the uncertainty of each input."""
    import matplotlib.pyplot as plt

    bounces = result.events["bounce"]
    u = np.array([p.u for p in params.values()])
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(7.0, 6.4), layout="constrained")

    t = np.linspace(0.0, 4.0, 1200)
    y, s = result.at(t)
    spread = np.sqrt(((s[:, 0] * u) ** 2).sum(axis=1))
    top.fill_between(t, y[:, 0] - spread, y[:, 0] + spread, color="0.75", label="± u(x)")
    top.plot(t, y[:, 0], color="black", lw=1.2, label="x")
    top.plot(bounces.times, 0 * bounces.times, "o", color="black", ms=4, label="bounce")
    top.set(xlabel="time t (s)", ylabel="height x (m)", xlim=(0, 4), ylim=(-0.05, 1.15))
    top.set_title("A ball dropped from 1 m, with the uncertainty of its inputs")
    top.legend(loc="upper right", ncols=3)

    n = np.arange(1, len(bounces.times) + 1)
    names = {"h": "height h", "g": "gravity g", "e": "restitution e"}
    styles = [("o", "-", "#0072b2"), ("s", "--", "#009e73"), ("^", "-.", "#d55e00")]
    for j, (name, (mark, line, colour)) in enumerate(zip(params, styles, strict=True)):
        moved = 1e3 * np.abs(bounces.dt[:, j]) * u[j]
        moved[moved == 0] = np.nan
        bottom.plot(n, moved, marker=mark, ls=line, color=colour, label=names[name])
    bottom.set(
        xlabel="number of the bounce n", ylabel="|∂Tₙ/∂p| u(p) (ms)", yscale="log", xticks=n[::2]
    )
    bottom.set_title("How far the time of a bounce moves by the uncertainty of each input")
    bottom.legend()
    bottom.grid(alpha=0.3)
    figure.savefig(path, dpi=150)


if __name__ == "__main__":
    result = ds.ode(
        rhs, y0, params, t_span, states=states, events=events, method=method, rtol=rtol,
        dense_output=True,
    )  # fmt: skip
    bounces = result.events["bounce"]
    print(f"{len(bounces.times)} bounces in 4 s; the derivatives of their times:\n")
    print(bounces.table())
    worst = 0.0
    for n, (t, dt) in enumerate(zip(bounces.times, bounces.dt, strict=True), start=1):
        exact_t, exact_dt = exact(n)
        worst = max(worst, abs(t / exact_t - 1), *np.abs(dt - exact_dt) / exact_t)
    print(f"\nlargest difference from the closed form: {worst:.1e}")
    draw(result, PICTURE)
    print(f"picture: {PICTURE}")
