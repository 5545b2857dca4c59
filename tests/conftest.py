"""Settings that all tests share."""

import hypothesis

# Reproducible and without a clock: a failing example fails again, on a busy machine too.
hypothesis.settings.register_profile(
    "project", deadline=None, derandomize=True, max_examples=60, print_blob=True
)
hypothesis.settings.load_profile("project")
