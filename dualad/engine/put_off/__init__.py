"""What is put off: large elementwise operations on duals, until somebody looks.

Which operations are put off is decided in `putting_off`, how in `postponed`; the result is a dual
that is not computed yet (`late`). What a level has put off, and how warnings are given when it
comes, is in `waiting` and `alarms`; one pass by blocks carries all of it out (`joint`).

It may import: levels, arrays, primitives, programs, kinds.
"""
