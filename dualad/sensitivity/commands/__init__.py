"""The command line of sensitivity analysis: `dualad sens`, and its ensemble, budget and fit."""
