"""Events: their times, the derivatives of those, and the jumps, against closed forms."""

import numpy as np
import pytest

from dualad import sensitivity as ds

RTOL = 1e-8
METHODS = ["RK45", "DOP853", "Radau", "BDF", "LSODA"]


def close(value, exact, rtol=100 * RTOL, atol=100 * RTOL):
    np.testing.assert_allclose(value, exact, rtol=rtol, atol=atol)


# --- the bouncing ball: one event that causes the next


BALL = {"h": 1.3, "g": 9.81, "e": 0.8}


def ball(t, y, p):
    return np.array([y[1], -p.g])


def bounce(t, y, p):
    return [0.0, -p.e * y[1]]


def height(t, y, p):
    return y[0]


def thrown(t_end=2.6, **options):
    options = {"method": "Radau", "rtol": RTOL, "atol": 1e-10} | options
    event = ds.Event(height, bounce, direction=-1, name="bounce")
    return ds.ode(
        ball,
        lambda p: [p.h, 0.0],
        BALL,
        (0.0, t_end),
        states=("x", "v"),
        events=[event],
        **options,
    )


def bounce_time(n, h, g, e):
    """T_n = sqrt(2 h / g) (1 + 2 (e + ... + e^(n-1)))."""
    return np.sqrt(2 * h / g) * (1 + 2 * sum(e**i for i in range(1, n)))


def bounce_slope(n, h, g, e):
    """Its derivatives by h, g and e."""
    T, first = bounce_time(n, h, g, e), np.sqrt(2 * h / g)
    return [T / (2 * h), -T / (2 * g), first * 2 * sum(i * e ** (i - 1) for i in range(1, n))]


@pytest.mark.parametrize("method", METHODS)
def test_every_bounce_of_a_ball_and_how_its_time_moves(method):
    times = thrown(method=method).events["bounce"]
    n = len(times.times)
    assert n == 4
    close(times.times, [bounce_time(i + 1, **BALL) for i in range(n)])
    close(times.dt, [bounce_slope(i + 1, **BALL) for i in range(n)])


def test_where_the_ball_is_after_two_bounces():
    """x = v (t - T) - g (t - T)^2 / 2 with v = e^2 sqrt(2 g h) after the second bounce T."""
    h, g, e = BALL.values()
    T, dT, t = bounce_time(2, h, g, e), np.array(bounce_slope(2, h, g, e)), 1.7
    v = e**2 * np.sqrt(2 * g * h)
    dv = np.array([v / (2 * h), v / (2 * g), 2 * v / e])
    s = t - T
    r = thrown(t_eval=[t])
    close(r.column("x"), v * s - g * s**2 / 2)
    close(r.S[0, 0], dv * s - v * dT + g * s * dT - np.array([0, s**2 / 2, 0]))
    close(r.S[0, 1], dv + g * dT - np.array([0, s, 0]))


def test_times_of_events_are_outputs_with_names_and_tables():
    times = thrown().events["bounce"]
    assert times.outputs == ("bounce[1]", "bounce[2]", "bounce[3]", "bounce[4]")
    assert (times.values.shape, times.jacobian.shape) == ((4,), (4, 3))
    np.testing.assert_array_equal(times.column("bounce[2]", "e"), times.dt[1, 2])
    close(times.elasticity()[:, 0], 0.5)
    assert "bounce[3]" in times.table()


def test_the_states_on_both_sides_of_a_bounce_move_with_its_time():
    h, g, e = BALL.values()
    times = thrown().events["bounce"]
    v = np.sqrt(2 * g * h)
    close(times.y[0], [0.0, -v], atol=1e-9)
    close(times.y_after[0], [0.0, e * v], atol=1e-9)
    close(times.S[0], [[0, 0, 0], [-v / (2 * h), -v / (2 * g), 0]], atol=1e-7)
    close(times.S_after[0], [[0, 0, 0], [e * v / (2 * h), e * v / (2 * g), v]], atol=1e-7)


def test_the_log_has_the_events_in_order():
    log = thrown().event_log
    assert [e.name for e in log] == ["bounce"] * 4
    assert np.all(np.diff([e.t for e in log]) > 0)


def test_without_times_asked_for_both_sides_of_an_event_are_in_the_result():
    r = thrown()
    for event in r.event_log:
        (at,) = np.nonzero(r.t == event.t)
        assert at.size == 2
        close(r.y[at, 1], [event.y[1], event.y_after[1]])


def test_dense_output_knows_the_jump():
    r = thrown(dense_output=True)
    T = r.events["bounce"].times[0]
    h, g, e = BALL.values()
    close(r.at(T - 1e-6)[0][1], -np.sqrt(2 * g * h), rtol=1e-5)
    close(r.at(T + 1e-6)[0][1], e * np.sqrt(2 * g * h), rtol=1e-5)
    y, s = r.at(1.7)
    again = thrown(t_eval=[1.7])
    close(y, again.y[0])
    close(s, again.S[0], atol=1e-5)


def test_sensitivities_across_events_do_not_depend_on_what_else_is_asked_for():
    whole, part = thrown(t_eval=[2.0]), thrown(t_eval=[2.0], wrt=["e"])
    close(part.S[0, :, 0], whole.S[0, :, 2])
    close(part.events["bounce"].dt[:, 0], whole.events["bounce"].dt[:, 2])


# --- integration to an event, from an event, and backwards


def test_a_terminal_event_ends_the_integration_at_a_time_that_moves():
    """y = exp(-k t) reaches c at T = -log(c) / k."""
    k, c = 0.7, 0.25
    event = ds.Event(lambda t, y, p: y[0] - p.c, terminal=True, name="done")
    r = ds.ode(
        lambda t, y, p: -p.k * y, [1.0], {"k": k, "c": c}, (0.0, 10.0), events=event, rtol=RTOL,
        integrals={"area": lambda t, y, p: y[0]},
    )  # fmt: skip
    T = -np.log(c) / k
    close(r.t[-1], T)
    close(r.events["done"].dt, [[-T / k, -1 / (c * k)]])
    assert r.success and "'done' ended the integration" in r.message
    # The area up to the event is (1 - c) / k.
    close(r.integrals.values, (1 - c) / k)
    close(r.integrals.jacobian, [[-(1 - c) / k**2, -1 / k]])


def test_a_terminal_event_with_a_count_ends_at_that_one():
    event = ds.Event(lambda t, y, p: np.sin(p.w * t), terminal=True, max_count=3, name="turn")
    r = ds.ode(lambda t, y, p: -y * p.w, [1.0], {"w": 2.0}, (0.1, 9.0), events=[event])
    close(r.events["turn"].times, np.arange(1, 4) * np.pi / 2, rtol=1e-9)
    close(r.events["turn"].dt[:, 0], -np.arange(1, 4) * np.pi / 4, rtol=1e-9)


def test_an_event_that_may_happen_once_only():
    event = ds.Event(height, bounce, direction=-1, name="bounce", max_count=1)
    r = ds.ode(ball, lambda p: [p.h, 0.0], BALL, (0.0, 3.0), events=[event], rtol=RTOL)
    assert len(r.events["bounce"].times) == 1
    assert r.y[-1, 0] < 0


@pytest.mark.parametrize(("direction", "count"), [(1, 3), (-1, 3), (0, 6)])
def test_the_direction_of_a_crossing(direction, count):
    event = ds.Event(lambda t, y, p: np.sin(p.w * t), direction=direction, name="zero")
    r = ds.ode(lambda t, y, p: -y * p.w, [1.0], {"w": 1.0}, (0.5, 19.0), events=[event], rtol=1e-6)
    assert len(r.events["zero"].times) == count


def test_an_event_backwards_in_time():
    event = ds.Event(lambda t, y, p: y[0] - p.c, lambda t, y, p: 2 * y, name="c")
    k, c = 0.7, 1.5
    r = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": k, "c": c}, (1.0, 0.0), t_eval=[0.0],
               events=[event], rtol=RTOL)  # fmt: skip
    T = 1 - np.log(c) / k
    close(r.events["c"].times, [T])
    close(r.events["c"].dt, [[np.log(c) / k**2, -1 / (k * c)]])
    # y(0) = 2 c exp(k T) = 2 exp(k): the doubling is at y = c, wherever that is.
    close(r.y[0, 0], 2 * np.exp(k))
    close(r.S[0, 0], [2 * np.exp(k), 0.0], atol=1e-6)


@pytest.mark.parametrize(("direction", "count"), [(1, 3), (-1, 3), (0, 6)])
@pytest.mark.parametrize("method", ["Radau", "DOP853"])
def test_an_event_backwards_in_time_that_changes_nothing(direction, count, method):
    """cos(w t) = c at t = (2 pi j +- arccos(c)) / w."""
    w, c = 2.0, 0.3
    event = ds.Event(lambda t, y, p: y[0] - p.c, direction=direction, name="c")
    r = ds.ode(lambda t, y, p: [y[1], -(p.w**2) * y[0]], [1.0, 0.0], {"w": w, "c": c},
               (0.0, -9.0), events=[event], rtol=RTOL, atol=1e-11, method=method)  # fmt: skip
    # On the way back the cosine falls through c first.
    turns = 2 * np.pi * np.arange(3)
    down, up = (turns + np.arccos(c)) / w, (turns + 2 * np.pi - np.arccos(c)) / w
    times = -np.sort({-1: down, 1: up, 0: np.concatenate([down, up])}[direction])
    assert len(times) == count
    close(r.events["c"].times, times)
    close(r.events["c"].dt[:, 0], -times / w, atol=1e-5)
    close(np.abs(r.events["c"].dt[:, 1]), 1 / (w * np.sqrt(1 - c**2)), atol=1e-5)


def test_backwards_in_time_a_solution_slides_and_touches_too():
    event = ds.Event(lambda t, y, p: y[0] - p.c, name="level")
    push = lambda t, y, p: [np.sign(y[0] - p.c)]
    with pytest.raises(ds.EventError, match=r"'level' cannot be passed at t = -0\.(8|79999)"):
        ds.ode(push, [1.0], {"c": 0.2}, (0.0, -2.0), events=event)
    wave = lambda t, y, p: [y[1], -y[0]]
    with pytest.raises(ds.EventError, match=r"'level' touches zero at t = -1\.570"):
        ds.ode(wave, [0.0, -1.0], {"c": 1.0}, (0.0, -3.0), events=event, rtol=RTOL)


def test_an_event_that_never_happens_gives_an_empty_table():
    event = ds.Event(lambda t, y, p: y[0] - 5.0, name="five")
    r = ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, (0.0, 1.0), events=[event])
    assert r.events["five"].times.shape == (0,)
    assert r.events["five"].dt.shape == (0, 1)
    assert r.events["five"].S.shape == (0, 1, 1)
    assert r.event_log == []


def test_many_crossings_within_one_step_are_all_found():
    """sin(20 t) = 0.3 twenty times up to 3; the steps are as long as the span."""
    event = ds.Event(lambda t, y, p: np.sin(20 * y[0]) - 0.3, name="wave")
    r = ds.ode(lambda t, y, p: p.k + 0 * y, [0.0], {"k": 1.0}, (0.0, 3.0), events=event,
               method="DOP853")  # fmt: skip
    up = (np.arcsin(0.3) + 2 * np.pi * np.arange(10)) / 20
    down = (np.pi - np.arcsin(0.3) + 2 * np.pi * np.arange(10)) / 20
    close(r.events["wave"].times, np.sort(np.concatenate([up, down])), rtol=1e-9)


def test_two_crossings_within_one_step_are_both_found():
    """t (1 - t) - 0.24 is positive for 0.2 only, in the middle of a step of a linear problem."""
    event = ds.Event(lambda t, y, p: t * (1 - t) - p.c, name="in")
    r = ds.ode(lambda t, y, p: p.c + 0 * y, [0.0], {"c": 0.2499}, (0.0, 3.0), events=[event],
               method="DOP853", rtol=1e-3)  # fmt: skip
    width = np.sqrt(0.25 - 0.2499)
    close(r.events["in"].times, [0.5 - width, 0.5 + width], rtol=1e-9)
    close(r.events["in"].dt[:, 0], [0.5 / width, -0.5 / width], rtol=1e-9)


# --- doses: events at times


def dosed(**options):
    """A dose D at t1 and another at t2 into a compartment that is emptied at rate k."""
    doses = [
        ds.Event(lambda t, y, p, n=n: t - p[n], lambda t, y, p: {"A": y[0] + p.D}, name=n)
        for n in ("t1", "t2")
    ]
    return ds.ode(
        lambda t, y, p: -p.k * y, {"A": 0.0}, {"D": 3.0, "k": 0.4, "t1": 1.0, "t2": 2.5},
        (0.0, 5.0), events=doses, rtol=RTOL, **options,
    )  # fmt: skip


def test_doses_at_times_that_are_parameters():
    """A = D (exp(-k (t - t1)) + exp(-k (t - t2)))."""
    r, (D, k, t1, t2) = dosed(t_eval=[0.5, 2.0, 4.0]), (3.0, 0.4, 1.0, 2.5)
    one = lambda t, t0: np.exp(-k * (t - t0))
    close(r.y[:, 0], [0, D * one(2, t1), D * (one(4, t1) + one(4, t2))], atol=1e-9)
    late = [
        one(4, t1) + one(4, t2), -D * ((4 - t1) * one(4, t1) + (4 - t2) * one(4, t2)),
        D * k * one(4, t1), D * k * one(4, t2),
    ]  # fmt: skip
    close(r.S[0, 0], np.zeros(4), atol=1e-12)
    close(r.S[2, 0], late)
    close(r.events["t1"].dt, [[0, 0, 1, 0]])


def test_a_time_of_the_result_at_an_event_shows_the_state_after_it():
    r = dosed(t_eval=[1.0])
    close(r.y[0, 0], 3.0)


def test_an_integral_goes_on_through_events():
    """The area under both doses is D/k (2 - exp(-k (5 - t1)) - exp(-k (5 - t2)))."""
    r = dosed(integrals={"area": lambda t, y, p: y[0]})
    D, k, t1, t2 = 3.0, 0.4, 1.0, 2.5
    a, b = np.exp(-k * (5 - t1)), np.exp(-k * (5 - t2))
    close(r.integrals.values, D / k * (2 - a - b))
    close(r.integrals.jacobian[0, [0, 2, 3]], [(2 - a - b) / k, -D * a, -D * b])
    close(r.integrals.jacobian[0, 1], -D / k**2 * (2 - a - b) + D / k * (4 * a + 2.5 * b))


def test_an_update_that_depends_on_the_time_of_the_event():
    """y' = 1 from 0; at y = c the state becomes T p = c p: h_t and dT/dp both count."""
    event = ds.Event(lambda t, y, p: y[0] - p.c, lambda t, y, p: [t * p.q], name="c", max_count=1)
    r = ds.ode(lambda t, y, p: 1.0 + 0 * y, [0.0], {"c": 0.5, "q": 0.3}, (0.0, 1.0), t_eval=[1.0],
               events=[event])  # fmt: skip
    # y(1) = c q + (1 - c)
    close(r.y[0, 0], 0.5 * 0.3 + 0.5)
    close(r.S[0, 0], [0.3 - 1.0, 0.5])


# --- jumps of the right-hand side


def test_an_event_without_update_carries_sensitivities_over_a_jump_in_time():
    """y' = -a y before th, b after it: y(2) = exp(-a th) + b (2 - th)."""
    th, a, b = 1.0, 1.3, 2.0
    rhs = lambda t, y, p: np.where(t < p.th, -p.a * y, p.b + 0 * y)
    for method in ("RK45", "Radau"):
        switch = ds.Event(lambda t, y, p: t - p.th, name="switch")
        r = ds.ode(rhs, [1.0], {"th": th, "a": a, "b": b}, (0.0, 2.0), t_eval=[2.0], method=method,
                   events=[switch], rtol=RTOL)  # fmt: skip
        e = np.exp(-a * th)
        close(r.y[0, 0], e + b * (2 - th))
        close(r.S[0, 0], [-a * e - b, -th * e, 2 - th])


def test_and_over_a_jump_where_a_state_passes_a_threshold():
    """y' = b up to th, c above: y(2) = th + c (2 - th / b)."""
    th, b, c = 1.0, 1.6, 2.5
    rhs = lambda t, y, p: np.where(y < p.th, p.b, p.c) + 0 * y
    switch = ds.Event(lambda t, y, p: y[0] - p.th, name="switch")
    r = ds.ode(rhs, [0.0], {"th": th, "b": b, "c": c}, (0.0, 2.0), t_eval=[2.0], method="RK45",
               events=[switch], rtol=RTOL)  # fmt: skip
    close(r.y[0, 0], th + c * (2 - th / b))
    close(r.S[0, 0], [1 - c / b, c * th / b**2, 2 - th / b])
    close(r.events["switch"].dt, [[1 / b, -th / b**2, 0]])


def test_an_event_that_only_watches_changes_nothing():
    rhs = lambda t, y, p: -p.k * y
    watch = ds.Event(lambda t, y, p: y[0] - 0.5, name="half")
    ask = {"t_eval": [0.3, 2.0], "rtol": 1e-6}
    plain = ds.ode(rhs, [1.0], {"k": 1.0}, (0.0, 2.0), **ask)
    watched = ds.ode(rhs, [1.0], {"k": 1.0}, (0.0, 2.0), events=watch, **ask)
    np.testing.assert_array_equal(plain.y, watched.y)
    np.testing.assert_array_equal(plain.S, watched.S)
    close(watched.events["half"].times, np.log(2), rtol=1e-6)
    close(watched.events["half"].dt, -np.log(2), rtol=1e-5)


# --- the stated rules


def test_an_event_that_is_zero_at_the_start_fires_when_it_comes_back():
    """sin from 0: zero at t0, and again at pi."""
    r = ds.ode(lambda t, y, p: [p.a * np.cos(t) + 0 * y[0]], [0.0], {"a": 2.0}, (0.0, 4.0),
               events=[ds.Event(height, name="zero")], rtol=RTOL)  # fmt: skip
    close(r.events["zero"].times, [np.pi])


def test_two_events_in_one_instant_are_both_there_if_one_of_them_only_watches():
    r = ds.ode(
        lambda t, y, p: p.a + 0 * y, [0.0], {"a": 1.0}, (0.0, 1.8), t_eval=[1.8],
        events=[ds.Event(lambda t, y, p: y[0] - 1, lambda t, y, p: y - 1, name="empty"),
                ds.Event(lambda t, y, p: t - 1, name="clock")],
    )  # fmt: skip
    assert [e.name for e in r.event_log] == ["empty", "clock"]
    close(r.events["empty"].dt, -1.0)
    close(r.events["clock"].dt, 0.0)
    close(r.y, 0.8)


def test_an_update_that_jumps_over_another_threshold_does_not_fire_it():
    r = ds.ode(
        lambda t, y, p: p.a + 0 * y, [0.0], {"a": 1.0}, (0.0, 1.5),
        events=[ds.Event(lambda t, y, p: y[0] - 1, lambda t, y, p: y + 5, name="jump"),
                ds.Event(lambda t, y, p: y[0] - 3, name="over")],
    )  # fmt: skip
    assert [e.name for e in r.event_log] == ["jump"]


# --- what has no answer


def raises(says, *events, rhs=None, y0=(0.0,), params=None, span=(0.0, 3.0), **options):
    rhs = rhs or (lambda t, y, p: [p.a * np.cos(t) + 0 * y[0]])
    with pytest.raises(ds.EventError, match=says):
        ds.ode(rhs, list(y0), params or {"a": 1.0}, span, events=list(events),
               rtol=RTOL, **options)  # fmt: skip


@pytest.mark.parametrize("method", ["DOP853", "Radau"])
def test_a_solution_that_touches_the_threshold(method):
    """sin reaches 1 at pi/2 and turns back."""
    event = ds.Event(lambda t, y, p: y[0] - p.a, name="top")
    raises(r"event 'top' touches zero at t = 1\.570.*no derivative", event, method=method)


def test_a_threshold_crossed_at_no_speed():
    event = ds.Event(lambda t, y, p: (y[0] - 1) ** 3, name="cube")
    raises("event 'cube' touches zero at t = 1", event, rhs=lambda t, y, p: p.a + 0 * y)


def test_a_ball_that_would_bounce_without_end():
    with pytest.raises(ds.EventError, match=r"'bounce' happens without end before t = 4\.63") as e:
        thrown(t_end=6.0)
    assert "max_count" in str(e.value)


def test_two_updates_in_one_instant():
    raises(
        r"events '[AB]' and '[AB]' happen in one instant, t = 1",
        ds.Event(lambda t, y, p: y[0] - 1, lambda t, y, p: y + 1, name="A"),
        ds.Event(lambda t, y, p: t - 1, lambda t, y, p: 2 * y, name="B"),
        rhs=lambda t, y, p: p.a + 0 * y,
    )


def test_an_update_of_the_wrong_shape():
    event = ds.Event(lambda t, y, p: t - 1, lambda t, y, p: [1.0, 2.0], name="dose")
    raises(r"update of event 'dose' returned shape \(2,\) at t = 1; there is 1 state ", event)


def test_an_update_that_is_not_finite():
    event = ds.Event(lambda t, y, p: t - 1, lambda t, y, p: y * np.nan, name="dose")
    raises("update of event 'dose' is not finite at t = 1", event)


def test_a_function_that_is_not_finite():
    event = ds.Event(lambda t, y, p: np.where(t < 1, 1.0, np.nan), name="broken")
    raises("the function of event 'broken' is nan at t", event)


@pytest.mark.parametrize("g", [lambda t, y, p: t > 1, lambda t, y, p: 1j * t])
def test_a_function_that_gives_no_real_number(g):
    with pytest.raises(ds.ModelError, match=r"event 'e' returned (bool|complex128) at t = 0"):
        ds.ode(
            lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, (0.0, 2.0), events=ds.Event(g, name="e")
        )


def test_a_function_that_writes_into_the_state():
    def g(t, y, p):
        y[0] = 5.0
        return t - 1.0

    with pytest.raises(ds.ModelError, match=r"event 'g' at t = 0 \(line.*read-only"):
        ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, (0.0, 2.0), events=ds.Event(g))


def test_an_update_of_a_state_that_is_not_there():
    event = ds.Event(lambda t, y, p: t - 1, lambda t, y, p: {"B": 1.0}, name="dose")
    with pytest.raises(ds.ModelError, match="no state 'B'"):
        ds.ode(lambda t, y, p: -p.k * y, {"A": 1.0}, {"k": 1.0}, (0.0, 2.0), events=event)


def test_an_update_that_drops_the_derivative():
    event = ds.Event(lambda t, y, p: t - 1, lambda t, y, p: [float(y[0])], name="dose")
    with pytest.raises(ds.ModelError, match=r"event 'dose'.*float\(y\[0\]\)"):
        ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, (0.0, 2.0), events=event)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ds.Event(1.0), "functions"),
        (lambda: ds.Event(height, 1.0), "functions"),
        (lambda: ds.Event(height, direction=2), "direction"),
        (lambda: ds.Event(height, max_count=0), "max_count"),
        (lambda: [1.0], "Event objects"),
        (lambda: [ds.Event(height), ds.Event(height)], "two events of the name 'height'"),
    ],
)
def test_events_that_are_none(make, says):
    with pytest.raises(ds.SensitivityError, match=says):
        ds.ode(lambda t, y, p: -p.k * y, [1.0], {"k": 1.0}, (0.0, 2.0), events=make())


@pytest.mark.parametrize(
    ("g", "t"),
    [
        (lambda t, y, p: np.mod(t, p.tau) - 0.5 * p.tau, 1.0),
        (lambda t, y, p: np.floor(t / p.tau) - 0.5, 1.0),
        (lambda t, y, p: np.where(y[0] > p.c, 1.0, -1.0), np.log(2.0)),
    ],
    ids=["mod", "floor", "where"],
)
def test_a_function_that_jumps_across_zero_tells_no_derivative(g, t):
    """mod(t, tau) - tau/2 goes through zero at tau/2, and jumps back at tau."""
    with pytest.raises(ds.EventError, match=r"jumps across zero at t = .*direction=") as info:
        ds.ode(
            lambda t, y, p: -y, [1.0], {"tau": 1.0, "c": 0.5}, (0.0, 3.2),
            events=[ds.Event(g, name="m")],
        )  # fmt: skip
    said = str(info.value)
    assert "'m'" in said
    assert abs(float(said.split(" at t = ")[1].split(",")[0]) - t) < 1e-5


def test_a_sawtooth_is_an_event_where_it_rises():
    r = ds.ode(
        lambda t, y, p: -y, [1.0], {"tau": 1.0}, (0.0, 3.2),
        events=[ds.Event(lambda t, y, p: np.mod(t, p.tau) - 0.5 * p.tau, direction=1, name="m")],
    )  # fmt: skip
    np.testing.assert_allclose(r.events["m"].times, [0.5, 1.5, 2.5], rtol=1e-12)
    np.testing.assert_allclose(r.events["m"].dt[:, 0], [0.5, 1.5, 2.5], rtol=1e-12)


def test_an_event_that_never_happens_has_empty_summaries():
    never = ds.Event(lambda t, y, p: y[0] - 9.0, name="high")
    r = ds.ode(lambda t, y, p: [-p.k * y[0]], [1.0], {"k": 1.0}, (0.0, 1.0), events=[never])
    times = r.events["high"]
    assert np.isnan(times.summary("max")).all() and np.isnan(times.summary("l2")).all()
    assert [row[1] for row in times.ranking().rows] == ["k"]
    with pytest.raises(ds.SensitivityError, match="nothing to draw"):
        times.plot.bar()


@pytest.mark.parametrize("method", METHODS[:3])
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_a_smooth_solution_that_touches_its_start_again_does_not_slide(method, rtol):
    """cos(2 t) comes back to 1 at t = pi; a smooth right-hand side holds nothing there."""
    event = ds.Event(lambda t, y, p: y[0] - 1.0, name="top")
    with pytest.raises(ds.EventError, match=r"'top' touches zero at t = 3\.141"):
        ds.ode(lambda t, y, p: [y[1], -(p.w**2) * y[0]], [1.0, 0.0], {"w": 2.0}, (0.0, 9.0),
               events=event, method=method, rtol=rtol, atol=1e-3 * rtol)  # fmt: skip


# --- sliding modes -------------------------------------------------------------------------------


def relay(t, y, p):
    return [np.where(y[0] > 0, -p["k"], 2 * p["k"])]


def at_zero(t, y, p):
    return y[0]


@pytest.mark.parametrize("method", ["Radau", "BDF", "RK45", "DOP853", "LSODA"])
def test_a_solution_that_is_held_is_an_error_with_event_time_and_remedy(method):
    with pytest.raises(ds.EventError, match=r"'at_zero' cannot be passed at t = 1.*tanh"):
        ds.ode(relay, [1.0], {"k": 1.0}, (0.0, 5.0), events=[at_zero], method=method)


def test_a_sliding_surface_of_position_and_speed():
    def rhs(t, y, p):
        return [y[1], -p["k"] * np.sign(y[0] + 2 * y[1]) - 0.1 * y[0]]

    def surface(t, y, p):
        return y[0] + 2 * y[1]

    with pytest.raises(ds.EventError, match=r"'surface' cannot be passed at t = 0\.9029"):
        ds.ode(rhs, [1.0, 0.5], {"k": 1.0}, (0.0, 5.0), events=[surface])


def test_a_terminal_event_ends_where_the_solution_would_be_held():
    events = [ds.Event(at_zero, terminal=True)]
    r = ds.ode(relay, [1.0], {"k": 2.0}, (0.0, 5.0), events=events)
    assert r.t[-1] == pytest.approx(0.5)
    assert r.events["at_zero"].jacobian.ravel() == pytest.approx([-0.25])  # T = 1 / k


def test_a_jump_that_lets_the_solution_through_is_none():
    def rhs(t, y, p):
        return [np.where(y[0] > 0, -p["k"], -2 * p["k"])]

    r = ds.ode(rhs, [1.0], {"k": 1.0}, (0.0, 2.0), events=[at_zero])
    assert r.y[-1] == pytest.approx([-2.0])
    assert r.S[-1].ravel() == pytest.approx([-4.0])  # y = -2 k (2 - 1 / k)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "LSODA"])
def test_chattering_that_nobody_declared_ends(method):
    with pytest.raises(ds.ModelError, match=r"next to no time.*declare it.*sliding"):
        ds.ode(relay, [1.0], {"k": 1.0}, (0.0, 5.0), method=method)


# --- a right-hand side that jumps to a small slope, or stops


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("leak", [0.1, 1e-3, 1e-4, 1e-8, 0.0])
def test_a_slope_that_nearly_stops_at_an_event(method, leak):
    """A tank is filled at rate q up to c, and at leak q from there: y = c + leak q (t - T)."""
    q, c = 1.5, 1.2
    event = ds.Event(lambda t, y, p: y[0] - p.c, name="full")
    r = ds.ode(lambda t, y, p: [p.q * np.where(y[0] < p.c, 1.0, leak)], [0.0], {"q": q, "c": c},
               (0.0, 2.0), t_eval=[2.0], events=event, method=method, rtol=RTOL)  # fmt: skip
    T = c / q
    close(r.events["full"].times, [T])
    close(r.events["full"].dt, [[-T / q, 1 / q]])
    close(r.y[0], c + leak * q * (2.0 - T))
    # y = c + leak (2 q - c), whatever the method and the size of its steps.
    close(r.S[0, 0], [2 * leak, 1 - leak])


@pytest.mark.parametrize("method", METHODS)
def test_a_slope_that_begins_at_an_event(method):
    """The other way round: from a leak to a flood, y = c + q (t - T), T = c / leak."""
    leak, c, q = 1e-4, 1e-4, 2.0
    event = ds.Event(lambda t, y, p: y[0] - p.c, name="bursts")
    r = ds.ode(lambda t, y, p: [np.where(y[0] < p.c, p.leak, p.q)], [0.0],
               {"leak": leak, "c": c, "q": q}, (0.0, 2.0), t_eval=[2.0], events=event, rtol=RTOL,
               method=method, atol=1e-12)  # fmt: skip
    close(r.events["bursts"].dt, [[-c / leak**2, 1 / leak, 0.0]])
    close(r.S[0, 0], [q * c / leak**2, 1 - q / leak, 1.0], rtol=1e-5)


@pytest.mark.parametrize("method", METHODS[:3])
def test_the_events_of_a_relay_oscillator(method):
    """y'' = -a sign(y) from rest at 1: zeros at (2 j + 1) sqrt(2 / a)."""
    event = ds.Event(lambda t, y, p: y[0], name="zero")
    r = ds.ode(lambda t, y, p: [y[1], -p.a * np.sign(y[0])], [1.0, 0.0], {"a": 0.8}, (0.0, 12.0),
               events=event, method=method, rtol=RTOL, atol=1e-11)  # fmt: skip
    times = (2 * np.arange(4) + 1) * np.sqrt(2 / 0.8)
    close(r.events["zero"].times, times[:4])
    close(r.events["zero"].dt[:, 0], -times / (2 * 0.8), rtol=1e-5)


@pytest.mark.parametrize("method", ["Radau", "BDF", "RK45", "DOP853"])
@pytest.mark.parametrize("steepness", [1e6, 1e8])
def test_a_steep_function_tells_the_time_that_a_flat_one_tells(method, steepness):
    """tanh(K (y - 1/2)) is zero where y - 1/2 is: at T = ln 2 / k, so dT/dk = -T / k."""
    event = ds.Event(lambda t, y, p: np.tanh(steepness * (y[0] - 0.5)), name="half")
    r = ds.ode(
        lambda t, y, p: [-p.k * y[0]], [1.0], {"k": 2.0}, (0.0, 1.0),
        events=event, method=method, rtol=1e-4,
    )  # fmt: skip
    half = r.events["half"]
    np.testing.assert_allclose(half.times, [np.log(2) / 2], rtol=1e-3)
    np.testing.assert_allclose(half.dt, [[-np.log(2) / 4]], rtol=2e-3)
    np.testing.assert_allclose(half.y, [[0.5]], rtol=1e-6)


def test_a_jump_is_no_steep_function():
    event = ds.Event(lambda t, y, p: np.where(y[0] > 0.5, 1.0, -1.0), name="half")
    with pytest.raises(ds.EventError, match="jumps across zero"):
        ds.ode(lambda t, y, p: [-p.k * y[0]], [1.0], {"k": 2.0}, (0.0, 1.0), events=event)
