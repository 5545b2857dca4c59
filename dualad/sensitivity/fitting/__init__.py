"""Least-squares fits: the estimate, its uncertainty, and what it predicts."""
