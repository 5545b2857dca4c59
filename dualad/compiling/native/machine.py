"""From LLVM's text to an address: optimised for this processor, kept on disk, loaded."""

from __future__ import annotations

import hashlib
import os
import threading
from typing import Any

from ...extras import required
from .disk import Shelf

__all__ = ["address_of", "binding", "has_fused", "is_known", "is_recent", "machine"]

REMEDY = "pip install 'dualad[jit]'"
#: From how many characters on a text is one for which LLVM's slower passes take too long.
LONG = 2_000_000


def binding() -> Any:
    """llvmlite's interface to LLVM."""
    return required("llvmlite.binding", "compiling to machine code", REMEDY)


def is_recent() -> bool:
    """Whether llvmlite has opaque pointers and LLVM's new passes (from 0.45 on)."""
    ir = required("llvmlite.ir", "compiling to machine code", REMEDY)
    return hasattr(binding(), "create_pass_builder") and getattr(
        ir.PointerType, "is_opaque", False
    )


class Machine:
    """The processor that code is for, and the memory where it lies."""

    def __init__(self) -> None:
        llvm = binding()
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        self.triple = llvm.get_process_triple()
        self.processor = llvm.get_host_cpu_name()
        self.features = llvm.get_host_cpu_features().flatten()
        self.target = self._target()
        # The engine owns its own.
        self.engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), self._target())
        version = ".".join(map(str, llvm.llvm_version_info))
        self.shelf = Shelf(f"{version} {self.triple} {self.processor} {self.features}")

    def _target(self) -> Any:
        llvm = binding()
        x86 = self.triple.startswith(("x86", "i386", "i686"))
        return llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.processor,
            features=self.features,
            opt=3,
            reloc="static" if x86 else "default",
            codemodel="jitdefault",
        )

    def load(self, text: str, name: str, keep: bool) -> int:
        """The address of a function of a module; the code may be kept on disk."""
        llvm = binding()
        code = self.shelf.get(text) if keep else None
        if code is None:
            code = self._object(text)
            if keep:
                self.shelf.put(text, code)
        self.engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self.engine.finalize_object()
        return self.engine.get_function_address(name)

    def _object(self, text: str) -> bytes:
        llvm = binding()
        module = llvm.parse_assembly(text)
        options = llvm.create_pipeline_tuning_options(1 if len(text) > LONG else 3)
        builder = llvm.create_pass_builder(self.target, options)
        builder.getModulePassManager().run(module, builder)
        return self.target.emit_object(module)


_machine: Machine | None = None
_lock = threading.RLock()
_known: dict[str, int] = {}


def machine() -> Machine:
    """The one machine of this process: with a second one the code of the first would go."""
    global _machine
    if _machine is None:
        with _lock:
            if _machine is None:
                _machine = Machine()
    return _machine


def address_of(text: str, keep: bool = True) -> int:
    """Compile a module whose function is called NAME; the same text is compiled once.

    With keep=False the code is not kept on disk: the text holds addresses of this process.
    """
    with _lock:
        name = "dualad_" + hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        if name not in _known:
            _known[name] = machine().load(text.replace("NAME", name), name, keep)
        return _known[name]


def _after_fork() -> None:
    """The thread that held the lock is not there any more."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def has_fused() -> bool:
    """Whether the processor multiplies and adds with one rounding."""
    with _lock:
        here = machine()
    return "+fma" in here.features.split(",") or here.triple.startswith(("aarch64", "arm64"))


def is_known(symbol: str) -> bool:
    """Whether a function of the mathematical library is there to be called."""
    with _lock:
        machine()
        return binding().address_of_symbol(symbol) is not None
