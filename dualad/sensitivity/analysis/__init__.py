"""What derivatives say: scaled, ranked, combined to variances, tested for identifiability."""
