"""Settings that all tests share."""

import hypothesis

from dualad.ops.later import load_all

# Reproducible and without a clock: a failing example fails again, on a busy machine too.
hypothesis.settings.register_profile(
    "project", deadline=None, derandomize=True, max_examples=60, print_blob=True
)
hypothesis.settings.load_profile("project")

# Tests walk over all rules; tests/test_start.py is about how they are loaded.
load_all()
