"""Initial value problems: states and sensitivities integrated together, through events."""
