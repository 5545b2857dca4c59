"""Programs traced from Python functions, made fast and run again."""
