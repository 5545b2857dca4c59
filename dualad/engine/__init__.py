"""The engine: levels, traced arrays, primitives, linear programs. It knows no formula.

Its groups, from the lowest to the highest: `levels`, `arrays`, `primitives`, `programs`, `kinds`;
on these `requires_grad`, `staging` and `put_off`; then `fast_paths` and `late_sweep`. Imports
point downwards, and each group says which of the others it may import. What a group needs of a
higher one it imports inside of the function that needs it, when that is first called.
"""
