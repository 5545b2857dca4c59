"""Levels, and the traced arrays that belong to them.

A level is one running transformation (`level`). A traced array is a value with something that a
level tracks of it; NumPy's protocols and the tables of rules that they read are here (`traced`,
`rules`), what is said where a rule is missing (`missing`), and how an error that another library
made of ours is ours again (`swallowed`). So are what every operation passes through while somebody
looks for a NaN (`watch`), and the containers in which values come and go (`tree`), made anew with
what they have beside these (`containers`).

It may import: nothing of the engine.
"""
