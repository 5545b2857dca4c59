"""Levels, and the traced arrays that belong to them.

A level is one running transformation (`level`). A traced array is a value with something that a
level tracks of it (`traced`); without a level, a `buffer` takes traced values by assignment; of
what is not computed a `spec` tells shape and dtype. What comes from outside is brought to one of
them, or refused, in `values`. NumPy's functions come by its `protocols` to the tables of `rules`,
and what is said where a rule is `missing`; how an error that another library made of ours is ours
again, in `swallowed`. So are here what every operation passes through while somebody looks for a
NaN (`watch`), and the containers in which values come and go (`tree`), made anew with what they
have beside these (`containers`).

It may import: nothing of the engine.
"""
