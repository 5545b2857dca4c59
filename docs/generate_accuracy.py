"""Write docs/accuracy.md: the errors of slopes against mpmath. It takes minutes."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from tails import page  # noqa: E402

HERE.joinpath("accuracy.md").write_text(page(), encoding="utf-8")
