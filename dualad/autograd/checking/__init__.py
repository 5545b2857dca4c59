"""The parts of gradcheck: what is checked, by which derivatives, and how a mismatch is told."""
