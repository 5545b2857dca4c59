"""The transformations that people call: they open a level, run a function, and read the result."""
