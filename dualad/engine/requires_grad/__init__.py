"""The lowest level, always open: tensors that require grad, and the graph behind them.

The graph of what made a value is in `graph`, the sweep back over it in `backprop`. What the mode
of the context lets be seen of a value is in `grad_mode` and `visible`. `blame` takes a sweep step
by step, this one or that of a tape, to the operation whose derivative made the first NaN.

It may import: levels, arrays, programs, kinds.
"""
