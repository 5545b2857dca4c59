"""Named parameters: their values, what is known of them, and their covariance."""
