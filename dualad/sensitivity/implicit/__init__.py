"""Solutions of equations with parameters, differentiated by the implicit function theorem."""
