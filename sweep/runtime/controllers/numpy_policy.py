"""A multilayer perceptron from a NumPy file."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sweep.errors import Problem, did_you_mean
from sweep.plan.sections import ControllerSpec
from sweep.runtime.control.controller import ControllerSetup
from sweep.runtime.controllers.policy import Policy
from sweep.runtime.numerics.rowwise import elu, identity, relu, row_product, tanh

Floats = NDArray[np.float64]

ACTIVATIONS: Mapping[str, Callable[[Floats], Floats]] = MappingProxyType(
    {"tanh": tanh, "relu": relu, "elu": elu, "identity": identity}
)


class NumpyPolicy(Policy):
    """A multilayer perceptron, all lanes at once, with the bits that each lane has alone.

    Its file, called ``weights``, is an ``.npz`` with ``w0`` ``(inputs, units)`` and ``b0`` ``(units,)`` of the first
    layer, ``w1`` and ``b1`` of the next, and so on; with ``mean`` and ``std`` ``(inputs,)`` if observations are
    normalised to ``(x - mean) / std``.  Everything is computed in double precision.

    From torch (a ``Linear`` keeps its weight the other way round)::

        layers = [layer for layer in net if isinstance(layer, torch.nn.Linear)]
        numpy.savez("policy.npz", **{f"w{i}": layer.weight.detach().numpy().T for i, layer in enumerate(layers)},
                                  **{f"b{i}": layer.bias.detach().numpy() for i, layer in enumerate(layers)})

    In the manifest::

        walk:
          class: sweep.runtime.controllers:NumpyPolicy
          period_s: 0.02
          inputs: [imu, encoders]
          outputs: legs
          files: {weights: policy.npz}
          parameters: {activation: elu, output_scale: 0.25, clip: [-1, 1]}

    Parameters of the manifest, beside those of every :class:`Policy`:
        activation: between layers: ``tanh`` (default), ``relu``, ``elu`` or ``identity``.
        output_activation: after the last layer (default ``identity``).
    """

    file: ClassVar[str] = "weights"
    known: ClassVar[tuple[str, ...]] = (*Policy.known, "activation", "output_activation")

    def __init__(self, setup: ControllerSetup) -> None:
        super().__init__(setup)
        network = Perceptron(read_arrays(setup.files[self.file]))
        if (network.inputs, network.outputs) != (self.observed, self.commanded):
            raise ValueError(
                f"the network makes {network.outputs} numbers of {network.inputs}, but its inputs "
                f"({_listed(setup.inputs)}) show {self.observed} and its outputs ({_listed(setup.outputs)}) take "
                f"{self.commanded}"
            )
        self._network = network
        self._between = ACTIVATIONS[setup.parameters.get("activation", "tanh")]
        self._after = ACTIVATIONS[setup.parameters.get("output_activation", "identity")]

    def act(self, observation: Floats) -> Floats:
        """See :meth:`Policy.act`."""
        return self._after(self._network(observation, self._between))

    @classmethod
    def problems(cls, spec: ControllerSpec, files: Mapping[str, bytes]) -> list[Problem]:
        """See :meth:`Policy.problems`."""
        found = super().problems(spec, files)
        for name in ("activation", "output_activation"):
            asked = str(spec.parameters.get(name, "identity"))
            if asked not in ACTIVATIONS:
                advice = did_you_mean(asked, list(ACTIVATIONS))
                found.append(Problem(f"parameters.{name}", f"unknown activation {asked!r}{advice}"))
        if cls.file in files:
            try:
                Perceptron(read_arrays(files[cls.file]))
            except ValueError as error:
                found.append(Problem(f"files.{cls.file}", str(error)))
        return found


class Perceptron:
    """Layers of a network.

    Args:
        arrays: ``w0``, ``b0``, ``w1``, ... and if wanted ``mean`` and ``std``.

    Attributes:
        inputs: numbers it takes.
        outputs: numbers it makes.

    Raises:
        ValueError: arrays that are missing, unknown, or do not fit together.
    """

    def __init__(self, arrays: Mapping[str, Floats]) -> None:
        depth = sum(name.startswith("w") for name in arrays)
        expected = [f"{kind}{layer}" for layer in range(max(depth, 1)) for kind in "wb"]
        if "mean" in arrays or "std" in arrays:
            expected += ["mean", "std"]
        if set(arrays) != set(expected):
            raise ValueError(f"holds the arrays {_listed(arrays)}; expected are {_listed(expected)}")
        self._layers = [(arrays[f"w{layer}"], arrays[f"b{layer}"]) for layer in range(depth)]
        self.inputs = _check(self._layers)
        self.outputs = self._layers[-1][1].size
        self._normal = (arrays["mean"], arrays["std"]) if "mean" in arrays else None
        if self._normal is not None and not (
            all(array.shape == (self.inputs,) for array in self._normal) and self._normal[1].all()
        ):
            raise ValueError(f"mean and std have one number for each of {self.inputs} inputs, and no std is 0")

    def __call__(self, observation: Floats, activation: Callable[[Floats], Floats]) -> Floats:
        """What the last layer makes of observations ``(lanes, inputs)``, before its activation."""
        signal = observation if self._normal is None else (observation - self._normal[0]) / self._normal[1]
        *hidden, (weights, bias) = self._layers
        for inner, inner_bias in hidden:
            signal = activation(row_product(signal, inner) + inner_bias)
        return row_product(signal, weights) + bias


def read_arrays(content: bytes) -> dict[str, Floats]:
    """The arrays of an ``.npz`` file in double precision.

    Raises:
        ValueError: it is none, or holds something else than finite numbers.
    """
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as archive:
            arrays = {name: np.ascontiguousarray(archive[name], np.float64) for name in archive.files}
    except (ValueError, OSError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(f"is not an .npz file of numbers: {error}") from None
    broken = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    if broken:
        raise ValueError(f"holds numbers that are not finite in {_listed(broken)}")
    return arrays


def _check(layers: list[tuple[Floats, Floats]]) -> int:
    """Numbers that the first layer takes; ValueError where one layer does not take what the last one makes."""
    made: int | None = None
    for number, (weights, bias) in enumerate(layers):
        if weights.ndim != 2 or bias.shape != weights.shape[1:] or made not in (None, weights.shape[0]):
            before = "(inputs, units)" if made is None else f"({made}, units)"
            raise ValueError(
                f"w{number} has shape {weights.shape} and b{number} {bias.shape}; expected are {before} and (units,). "
                "A weight of torch.nn.Linear is (units, inputs): save its transpose"
            )
        made = weights.shape[1]
    return int(layers[0][0].shape[0])


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
