"""Each test draws the same random numbers, whichever tests ran before it."""

import every_mode
import pytest

START = every_mode.RNG.bit_generator.state


@pytest.fixture(autouse=True)
def same_numbers():
    every_mode.RNG.bit_generator.state = START
