"""Linear programs: what recording writes down, applied and transposed.

A tape has the entries of one run, and the sweep that transposes them (`tape`). A linear program
is a tape that stands for itself (`linear`): it can be printed as NumPy source (`source`) and
compiled (`compilable`).

It may import: levels, arrays, primitives.
"""
