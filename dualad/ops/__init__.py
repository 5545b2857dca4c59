"""The formulas: one file a family of mathematics, each derivative stated once."""
