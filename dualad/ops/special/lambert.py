"""The Lambert W function and Wright's omega (DLMF 4.13)."""

from __future__ import annotations

from .table import special, whole_number

__all__: list[str] = []

special("_lambertw", "exp(-out) / (1 + out)", whole_number("k"), None)
special("wrightomega", "out / (1 + out)")
