"""Linear programs: what recording writes down, applied and transposed.

A tape has the entries of one run, and the sweep that transposes them (`tape`); each of its
`entries` has a pull rule, and constants as they were `kept`. A linear program is a tape that
stands for itself (`linear`), found by running a rule on a linear `variable`: it can be printed as
NumPy source (`source`) and compiled (`compilable`).

It may import: levels, arrays, primitives.
"""
