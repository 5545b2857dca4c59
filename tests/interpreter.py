"""What a program means, step by step: the slow and plain way, for tests of the other ones."""

import numpy as np

from dualad.compiling.loop import Loop
from dualad.engine.staging.operations import Guard, Variable


class FailedError(Exception):
    """A guard does not hold."""


def interpret(program, values):
    """The leaves of the result."""
    env = dict(zip(program.inputs, values, strict=True))
    for step in program.steps:
        run(step, env)
    return [get(o.value, env) for o in program.outputs]


def run(step, env):
    if isinstance(step, Loop):
        loop(step, env)
    elif isinstance(step, Guard):
        ask(step, env)
    else:
        params = {k: get(v, env) for k, v in step.params.items()}
        with np.errstate(all="ignore"):
            out = step.primitive.impl(*get(step.operands, env), **params)
        out = (out,) if step.is_single else out
        env.update(zip(step.results, out, strict=True))


def get(x, env):
    if type(x) is Variable:
        return env[x]
    if type(x) in (tuple, list):
        return type(x)([get(v, env) for v in x])
    if type(x) is slice:
        return slice(*(get(v, env) for v in (x.start, x.stop, x.step)))
    return x


def ask(g, env):
    value = env[g.variable]
    answer = {
        "bool": lambda: bool(value),
        "has_nan": lambda: bool(np.isnan(value).any()),
        "shape": lambda: np.shape(value),
    }.get(g.question)
    if answer is not None and answer() != g.answer:
        raise FailedError


def loop(step, env):
    env = env
    now = {c.inside: get(c.initial, env) for c in step.carries}
    for t in range(step.turns):
        env.update(now)
        env.update({s.inside: get(s.values[t], env) for s in step.streams})
        for inner in step.body:
            run(inner, env)
        for s in step.saves:
            env[s.outside[t]] = env[s.inside]
        now = {c.inside: env[c.update] for c in step.carries}
    for outside, inside in step.finals:
        env[outside] = env[inside]
