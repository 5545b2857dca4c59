"""What scipy.special has of elementary functions: powers, logistic, trigonometry in degrees."""

from __future__ import annotations

from .table import NAMESPACE, constant, special

__all__: list[str] = []

DEGREE = 0.017453292519943295
NAMESPACE.update(DEGREE=DEGREE, LN2=0.6931471805599453, LN10=2.302585092994046)

# fmt: off
special("exp2",      "LN2 * out")
special("exp10",     "LN10 * out")
special("expm1",     "exp(x)")
special("log1p",     "1 / (1 + x)")
special("cbrt",      "1 / (3 * out * out)")
special("cosm1",     "-sin(x)")
special("expit",     "out * expit(-x)")
special("logit",     "1 / (x * (1 - x))")
special("log_expit", "expit(-x)")
special("sindg",     "DEGREE * cosdg(x)")
special("cosdg",     "-DEGREE * sindg(x)")
special("tandg",     "DEGREE * (1 + out * out)")
special("cotdg",     "-DEGREE * (1 + out * out)")
special("radian",    f"{DEGREE}", f"{DEGREE / 60}", f"{DEGREE / 3600}", joint=True)
constant("round")
# fmt: on
