"""Machine code on disk, so that a program is compiled once for all processes of a user.

Machine code is run without a question, so it is read only from a directory that belongs to the
user and that nobody else may write to. Where there is no such directory nothing is kept.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

from ...version import __version__

__all__ = ["Shelf", "directory"]

#: Where code is kept, in place of the user's cache directory; empty: nowhere.
VARIABLE = "DUALAD_CACHE_DIR"
SIGNED = 32


def directory() -> Path | None:
    """Where code is kept, or None."""
    named = os.environ.get(VARIABLE)
    if named is not None:
        return Path(named) if named else None
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
        return Path(base) / "dualad" / "cache" if base else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "dualad"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "dualad"


class Shelf:
    """Code by the text that it was compiled from, for one processor."""

    def __init__(self, processor: str) -> None:
        self.key = f"{__version__} {processor}".encode()
        place = directory()
        self.place = place / "native" if place is not None else None

    def path(self, text: str) -> Path | None:
        """Where the code of a text lies."""
        if self.place is None:
            return None
        name = hashlib.blake2b(self.key + b"\0" + text.encode(), digest_size=20).hexdigest()
        return self.place / name

    def get(self, text: str) -> bytes | None:
        """The code of a text, if it is there and whole."""
        path = self.path(text)
        if path is None or not self._is_ours():
            return None
        try:
            kept = path.read_bytes()
        except OSError:
            return None
        code = kept[SIGNED:]
        return code if kept[:SIGNED] == self._sign(code) else None

    def put(self, text: str, code: bytes) -> None:
        """Keep code; a reader sees all of it or nothing."""
        path = self.path(text)
        if path is None:
            return
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._is_ours():
                return
            handle, new = tempfile.mkstemp(dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(self._sign(code) + code)
                os.replace(new, path)
            except OSError:
                os.unlink(new)
        except OSError:
            self.place = None

    def _sign(self, code: bytes) -> bytes:
        return hashlib.blake2b(self.key + code, digest_size=SIGNED).digest()

    def _is_ours(self) -> bool:
        if self.place is None or not hasattr(os, "getuid"):
            return self.place is not None
        try:
            found = self.place.stat()
        except OSError:
            return False
        others = found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        return found.st_uid == os.getuid() and not others
