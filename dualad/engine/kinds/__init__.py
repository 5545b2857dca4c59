"""The kinds of traced array, by what they track.

A tangent that is a value (`dual`), one that is a linear variable (`recorded`), many tangents at
once (`batched_dual`), an axis that the user's function does not see (`batched`), an array of
another library (`duck`). `parts`, `direction` and `slope` ask any of them for their tangents.

It may import: levels, arrays, primitives, programs.
"""
