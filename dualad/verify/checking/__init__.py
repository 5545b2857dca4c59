"""The parts of `check`: references with bounds, claims as matrices, and what else is looked at."""
