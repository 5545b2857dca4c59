"""What is put off in a gradient: large recorded operations, until the sweep or somebody looks.

`late_records` puts operations off, `late_sums` the sums of their results; `record_state` knows
what a level has put off. The sweep transposes runs of entries block by block (`fused`), and
computes on the way what nobody has looked at (`runs`, `late_runs`).

It may import: levels, arrays, primitives, programs, kinds, put_off, fast_paths.
"""
