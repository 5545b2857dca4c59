"""Primitives: what an operation states of its derivative, and what follows from that alone.

Dispatch by level is in `primitive`, the three families in `elementwise`, `linear` and
`composite`; rules that are one linear operation after the other in `chain`. Tangents and
cotangents get their shapes and dtypes in `shape`. The formulas of an elementwise primitive are
taken apart in `formulas` and `terms`, and carried out on blocks of large arrays in `blocks` and
`steps`: one by one as rules (`block_rules`), or many as one program (`block_programs`). What a
call may say beside its operands, `out=` and the like, is in `inplace` and `keywords`.

It may import: levels, arrays.
"""
