"""The fast paths: functions made for what nearly every call is.

Those of elementwise primitives are made by `codegen`, and put into use as `operators` and ufuncs:
for the `first_calls` functions that carry the formulas out one by one (`interpreted`), then
written and compiled ones (`writer`), with `twins` for what they leave out and `numbers` for
numbers beside arrays. What is written for each operation is in `written_duals` and
`written_records`, how it is run in `written`. The rest is by hand: entries (`items`,
`item_entries`), joins (`joins`), sums and products (`contractions`), choices (`choices`).

It may import: levels, arrays, primitives, programs, kinds, put_off.
"""
