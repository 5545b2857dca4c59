"""Write the pictures of the guide, docs/images: python docs/generate_images.py.

Each is what an example draws, in as few colours as it needs, so that it stays small.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = (
    "bouncing_ball", "epidemic", "gauge_block", "hybrid_dosing", "metabolic_network",
    "pharmacokinetics",
)  # fmt: skip
WIDTH, COLOURS = 780, 48


def main() -> int:
    """Run the examples, and keep what they draw."""
    folder = ROOT / "docs/images"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        run = {"cwd": work, "check": True, "env": {**os.environ, "MPLBACKEND": "Agg"}}
        for name in EXAMPLES:
            subprocess.run([sys.executable, ROOT / f"examples/{name}.py"], **run)
            shrink(Path(work, f"{name}.png"), folder / f"{name}.png")
        robertson = [sys.executable, "-m", "dualad.cli", "sens", ROOT / "examples/robertson.py"]
        subprocess.run([*robertson, "--plot", "robertson.png"], **run)
        shrink(Path(work, "robertson.png"), folder / "robertson.png")
    return 0


def shrink(source: Path, target: Path) -> None:
    """A smaller picture of a few colours."""
    picture = Image.open(source).convert("RGB")
    height = round(picture.height * WIDTH / picture.width)
    picture = picture.resize((WIDTH, height), Image.Resampling.LANCZOS)
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    raise SystemExit(main())
