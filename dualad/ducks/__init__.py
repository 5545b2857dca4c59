"""Arrays of other libraries inside duals and transformations: one file a library.

A file says which operations its library does right, by the names of primitives; it is imported
when the first array of the library is met.
"""
