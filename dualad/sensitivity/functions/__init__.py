"""Models that are functions or maps of their parameters, and what goes through them."""
