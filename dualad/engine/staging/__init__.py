"""Staging: the operations of a function written down as a program while they are computed.

`staged` is the value that does it; `operations` is what a program is written in. The arrays that
a trace reads beside its variables are in `constants`, and what the function would have seen in
place of a staged scalar in `shown`.

It may import: levels, arrays, primitives.
"""
