"""Many members of one analysis: values and derivatives for each set of parameters."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ParameterError, SensitivityError, unknown_name
from ..functions.sampling import ParameterSets
from ..given import numbers
from ..parameters.parameters import Parameters
from ..results.export import write
from ..results.sensitivities import Sensitivities
from ..results.storage import parameters_of, parameters_record
from ..results.tabular import Table
from ..results.time_sensitivities import TimeSensitivities
from . import storage
from .worker import Batch, Template

__all__ = ["Ensemble", "Failure"]


@dataclass(frozen=True)
class Failure:
    """A member that failed: its number, its parameters, and the text of its exception."""

    index: int
    parameters: dict[str, float]
    error: str


class Ensemble:
    """The members in the order of the sets; those that failed hold NaN.

    Attributes:
        sets: the sets of parameters, (n, q).
        values: shape (n, *out).
        jacobian: shape (n, *out, k).
        outputs: the names of the outputs, flat.
        parameters: the names of the k parameters that were differentiated by.
        t: the times, where there are any.
        failed: the members that failed.
        base: all parameters, with the values of those that the sets leave out.
        done: which members have been run, (n,).
        stats: what the computation took.
    """

    def __init__(
        self,
        sets: ParameterSets,
        template: Template | None = None,
        mark: str = "",
        base: Parameters | None = None,
    ):
        self.sets, self.template, self.mark = sets, template, mark
        self.base = Parameters({}) if base is None else base
        n = len(sets)
        self.done = np.zeros(n, bool)
        self._errors: dict[int, str] = {}
        self.stats: dict[str, Any] = {}
        self.values = self.jacobian = np.empty((n, 0))
        if template is not None:
            self._allocate(template)

    def _allocate(self, template: Template) -> None:
        self.template = template
        shape = (len(self.sets), *template.shape)
        self.values = np.full(shape, np.nan)
        self.jacobian = np.full((*shape, len(template.parameters)), np.nan)

    def add(self, batch: Batch) -> None:
        """Take the members of a batch in."""
        if self.template is None and batch.template is not None:
            self._allocate(batch.template)
        for i, values in batch.values.items():
            if values.shape != self._shape():
                batch.errors[i] = (
                    f"the outputs have shape {values.shape}, those of the first member "
                    f"{self._shape()}: give the times of the result (t_eval)"
                )
                continue
            self.values[i], self.jacobian[i] = values, batch.jacobian[i]
            self._errors.pop(i, None)
        self._errors.update(batch.errors)
        self.done[batch.indices] = True

    def _shape(self) -> tuple[int, ...]:
        return self._known().shape

    def _known(self) -> Template:
        if self.template is None:
            raise SensitivityError("no member of the ensemble has succeeded")
        return self.template

    def __len__(self) -> int:
        return len(self.sets)

    def __repr__(self) -> str:
        names = ", ".join(self.outputs[:6])
        return f"<Ensemble of {len(self)} members ({len(self.failed)} failed): {names}>"

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(self._known().outputs)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that were differentiated by."""
        return tuple(self._known().parameters)

    @property
    def t(self) -> np.ndarray | None:
        """The times of the outputs, where there are any."""
        times = self._known().times
        return None if times is None else np.asarray(times, float)

    @property
    def ok(self) -> np.ndarray:
        """Which members succeeded, (n,)."""
        out = self.done.copy()
        out[list(self._errors)] = False
        return out

    @property
    def failed(self) -> list[Failure]:
        """The members that failed, in order."""
        return [Failure(i, self.sets[i], self._errors[i]) for i in sorted(self._errors)]

    def member(self, i: int) -> Any:
        """One member as a result of its own.

        Raises:
            SensitivityError: it failed, or was not run.
        """
        if not isinstance(i, int | np.integer) or not 0 <= i < len(self.done):
            raise SensitivityError(f"there are members 0 to {len(self.done) - 1}, got {i!r}")
        if i in self._errors or not self.done[i]:
            raise SensitivityError(f"member {i}: {self._errors.get(i, 'it has not been run')}")
        known = self._known()
        parameters = self.base.replace(**self.sets[i]).subset(known.parameters)
        if self.t is not None:
            return TimeSensitivities(
                self.t, self.values[i], self.jacobian[i], known.outputs, parameters,
                units=known.units, time_unit=known.time_unit,
            )  # fmt: skip
        return Sensitivities(
            self.values[i], self.jacobian[i], outputs=known.outputs, parameters=parameters,
            units=known.units,
        )  # fmt: skip

    # --- statistics over the members that succeeded

    def mean(self) -> np.ndarray:
        """The mean of the outputs, shape (*out)."""
        return np.asarray(self._good().mean(axis=0))

    def std(self) -> np.ndarray:
        """The standard deviation of the outputs, shape (*out)."""
        good = self._good()
        if len(good) < 2:
            return np.full(good.shape[1:], np.nan)
        return np.asarray(good.std(axis=0, ddof=1))

    def quantiles(self, q: Any = (0.025, 0.5, 0.975)) -> np.ndarray:
        """Quantiles of the outputs, shape (len(q), *out)."""
        wanted = numbers("quantiles", q)
        if not ((wanted >= 0) & (wanted <= 1)).all():
            raise SensitivityError(f"quantiles lie between 0 and 1, got {q!r}")
        return np.asarray(np.quantile(self._good(), wanted, axis=0))

    def dgsm(self) -> np.ndarray:
        """The mean square of each derivative over the sets, shape (*out, k).

        Sobol' and Kucherenko, Derivative based global sensitivity measures and their link with
        global sensitivity indices, Math. Comput. Simul. 79 (2009).
        """
        return np.asarray((self.jacobian[self.ok] ** 2).mean(axis=0))

    def total_bounds(self) -> Table:
        """Upper bounds of the total Sobol' indices, from the derivatives; see `total_bounds`."""
        from .global_bounds import total_bounds

        return total_bounds(self)

    def output_index(self, output: str) -> int:
        """Where an output stands in the flat order.

        Raises:
            ParameterError: there is no such output.
        """
        if output not in self.outputs:
            raise ParameterError(unknown_name("output", output, self.outputs))
        return self.outputs.index(output)

    @property
    def plot(self) -> Any:
        """Pictures: `.plot.band()`, the members over time, and `.plot.histograms()`."""
        from ..plots import EnsemblePlots

        return EnsemblePlots(self)

    def _good(self) -> np.ndarray:
        good = self.values[self.ok]
        if not len(good):
            raise SensitivityError("no member of the ensemble has succeeded")
        return good

    def summary(self) -> Table:
        """Mean, spread and quantiles of each output, at each time."""
        from .tables import summary_table

        return summary_table(self)

    # --- tables and files

    def _repr_html_(self) -> str:
        return self.summary().render("html")

    def to_dataframe(self) -> Any:
        """A DataFrame with a row a member (and time): parameters, outputs, derivatives, error."""
        from .tables import members_table

        return members_table(self).to_dataframe()

    def to_csv(self, path: str | Path | None = None) -> str:
        """The same as CSV, with all digits: written to a file, if a path is given."""
        from .tables import members_table

        return write(members_table(self).render("csv"), path)

    def to_xarray(self) -> Any:
        """A Dataset with the dimensions member, (time,) output, parameter."""
        from ...extras import required

        xarray = required("xarray", "to_xarray", "pip install dualad[xarray]")
        m, k = len(self.outputs), len(self.parameters)
        front = ["member"] if self.t is None else ["member", "time"]
        lead = (len(self),) if self.t is None else (len(self), len(self.t))
        coords: dict[str, Any] = {"member": np.arange(len(self)), "output": list(self.outputs)}
        if self.t is not None:
            coords["time"] = self.t
        coords["parameter"] = list(self.parameters)
        data = {
            "value": ([*front, "output"], self.values.reshape(*lead, m)),
            "sensitivity": ([*front, "output", "parameter"], self.jacobian.reshape(*lead, m, k)),
            "ok": (["member"], self.ok),
        }
        data |= {f"set_{n}": (["member"], self.sets.column(n)) for n in self.sets.names}
        units = {} if self.template is None else self.template.units
        of = [self.base.parameter(n).unit or "" for n in self.parameters]
        coords["output_unit"] = ("output", [units.get(n, "") for n in self.outputs])
        coords["parameter_unit"] = ("parameter", of)
        return xarray.Dataset(data, coords)

    def save(self, path: str | Path) -> Path:
        """Write all members to an NPZ file, with an index in JSON beside it; returns its path."""
        t = self.template
        index = {
            "mark": self.mark,
            "names": list(self.sets.names),
            "parameters": parameters_record(self.base),
            "members": len(self),
            "done": int(self.done.sum()),
            "failed": {str(i): text for i, text in sorted(self._errors.items())},
            "template": None if t is None else {
                "outputs": list(t.outputs), "parameters": list(t.parameters),
                "shape": list(t.shape), "units": dict(t.units), "timed": t.times is not None,
                "time_unit": t.time_unit,
            },
        }  # fmt: skip
        arrays = {"sets": self.sets.values, "done": self.done, "values": self.values,
                  "jacobian": self.jacobian}  # fmt: skip
        if t is not None and t.times is not None:
            arrays["times"] = np.asarray(t.times, float)
        return storage.write(path, arrays, index)

    @classmethod
    def load(cls, path: str | Path) -> Ensemble:
        """The ensemble of a file, whole or as far as it had come.

        Raises:
            SensitivityError: there is no such file, it is damaged, or from a newer version.
        """
        arrays, index = storage.read(path)
        try:
            t = index["template"]
            template = None if t is None else Template(
                tuple(t["outputs"]), tuple(t["parameters"]), tuple(t["shape"]), t["units"],
                arrays["times"] if t["timed"] else None, t["time_unit"],
            )  # fmt: skip
            sets = ParameterSets(index["names"], arrays["sets"])
            out = cls(sets, template, index["mark"], parameters_of(index["parameters"]))
            out.done, out._errors = arrays["done"], {int(i): e for i, e in index["failed"].items()}
            if template is not None:
                out.values, out.jacobian = arrays["values"], arrays["jacobian"]
        except (KeyError, TypeError) as error:
            raise SensitivityError(f"the file {path} is damaged: {error!r}") from error
        return out
