"""A network that torch evaluates."""

from __future__ import annotations

import importlib
import importlib.util
import io
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem
from sweep.plan.sections import ControllerSpec
from sweep.runtime.control.controller import ControllerSetup
from sweep.runtime.controllers.policy import Policy
from sweep.runtime.noise import normals

Floats = NDArray[np.float64]

PROBED_ROWS = 2048
"""Rows on which many at once are compared with one at a time: few bits differ in a small network."""

ONE_AT_A_TIME = (
    "TorchPolicy computes one lane at a time, for this network's bits depend on how many there are; "
    "NumpyPolicy computes all at once"
)

_NO_NETWORK = (
    "is neither TorchScript (torch.jit.save) nor an exported program (torch.export.save); weights alone, as torch.save "
    "writes a state_dict, do not say what is computed with them"
)


class TorchPolicy(Policy):
    """A network as torch saves it: TorchScript (``torch.jit.save``) or an exported program (``torch.export.save``).

    Its file is called ``module``; it maps a tensor ``(rows, observed)`` to one ``(rows, commanded)`` and remembers
    nothing.  What it gives for a single row is what counts.  Lanes are computed at once only if that gives the same
    bits for this number of rows, which is tried on 2048 random rows when a batch is built; otherwise one by one, which
    is said.  It is computed on the CPU, on one thread.

    In the manifest::

        walk:
          class: sweep.runtime.controllers:TorchPolicy
          period_s: 0.02
          inputs: [imu, encoders]
          outputs: legs
          files: {module: policy.pt}
          parameters: {output_scale: 0.25}

    torch is not among this package's dependencies: ``pip install torch``.

    Parameters of the manifest, beside those of every :class:`Policy`:
        dtype: what observations are rounded to, ``float32`` (default) or ``float64``.
    """

    file: ClassVar[str] = "module"
    known: ClassVar[tuple[str, ...]] = (*Policy.known, "dtype")
    packages: ClassVar[tuple[str, ...]] = ("torch",)

    def __init__(self, setup: ControllerSetup) -> None:
        super().__init__(setup)
        self._torch = importlib.import_module("torch")
        self._module = _load(self._torch, setup.files[self.file])
        dtype = getattr(self._torch, setup.parameters.get("dtype", "float32"))
        # Memory of torch's own: what a BLAS adds first may depend on how its operands are aligned.
        self._row = self._torch.empty((1, self.observed), dtype=dtype)
        self._rows = self._torch.empty((setup.lanes, self.observed), dtype=dtype)
        with self._quietly():
            self._check()
            self._at_once = setup.lanes > 1 and self._same_at_once(setup.lanes)
        self.remarks = () if self._at_once or setup.lanes == 1 else (ONE_AT_A_TIME,)

    def act(self, observation: Floats) -> Floats:
        """See :meth:`Policy.act`."""
        with self._quietly():
            return self._answer(self._rows, observation) if self._at_once else self._one_by_one(observation)

    @classmethod
    def problems(cls, spec: ControllerSpec, files: Mapping[str, bytes]) -> list[Problem]:
        """See :meth:`Policy.problems`."""
        found = super().problems(spec, files)
        if importlib.util.find_spec("torch") is None:
            found.append(Problem("class", "TorchPolicy needs torch, which is not installed; type: pip install torch"))
        dtype = spec.parameters.get("dtype", "float32")
        if dtype not in ("float32", "float64"):
            found.append(Problem("parameters.dtype", f"is float32 or float64, not {dtype!r}"))
        if cls.file in files and _format(files[cls.file]) is None:
            found.append(Problem(f"files.{cls.file}", _NO_NETWORK))
        return found

    def _answer(self, place: Any, observation: Floats) -> Floats:
        place.copy_(self._torch.from_numpy(np.array(observation)))
        answer = self._module(place)
        if tuple(getattr(answer, "shape", ())) != (len(observation), self.commanded):
            found = getattr(answer, "shape", type(answer).__name__)
            raise ValueError(
                f"the network answers {found}, expected (rows, numbers) = {len(observation), self.commanded}"
            )
        return np.array(answer.numpy(), np.float64)

    def _one_by_one(self, observation: Floats) -> Floats:
        rows = range(len(observation))
        return np.concatenate([self._answer(self._row, observation[row : row + 1]) for row in rows])

    def _check(self) -> None:
        """Raise ValueError unless it is a function of the observation, of the right widths."""
        observation = _observations(0, 4, self.observed)
        if self._one_by_one(observation).tobytes() != self._one_by_one(observation[::-1])[::-1].tobytes():
            raise ValueError("the network answers one observation in two ways: it remembers, or draws random numbers")

    def _same_at_once(self, lanes: int) -> bool:
        for number in range(-(-PROBED_ROWS // lanes)):
            observation = _observations(number, lanes, self.observed)
            try:
                together = self._answer(self._rows, observation)
            except Exception:  # noqa: BLE001 - exported for one row, it may refuse many in any way
                return False
            if together.tobytes() != self._one_by_one(observation).tobytes():
                return False
        return True

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        """No gradients, one thread, and no rewriting of the network after its first calls."""
        threads = self._torch.get_num_threads()
        self._torch.set_num_threads(1)
        try:
            with self._torch.inference_mode(), self._torch.jit.optimized_execution(False):
                yield
        finally:
            self._torch.set_num_threads(threads)


def _load(torch: Any, content: bytes) -> Any:
    if _format(content) == "export":
        return torch.export.load(io.BytesIO(content)).module()
    with warnings.catch_warnings():
        # Deprecated in favour of exported programs, which are read as well; but it is what most tools still write.
        warnings.simplefilter("ignore", DeprecationWarning)
        return torch.jit.load(io.BytesIO(content), map_location="cpu").eval()


def _format(content: bytes) -> str | None:
    try:
        names = {name.partition("/")[2] for name in zipfile.ZipFile(io.BytesIO(content)).namelist()}
    except zipfile.BadZipFile:
        return None
    return "export" if "archive_format" in names else "script" if "constants.pkl" in names else None


def _observations(number: int, rows: int, width: int) -> Floats:
    """Random observations, each block of another size, small to large."""
    scale = 10.0 ** (number % 4 - 1)
    return scale * normals(0, number * rows * width, rows * width).reshape(rows, width)
