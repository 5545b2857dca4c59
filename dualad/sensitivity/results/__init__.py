"""What the analyses return: values and derivatives by name, as tables, files and verdicts."""
