"""Networks as controllers: a lane's bits are those it has alone, or one line says why lanes are computed one by one."""

from __future__ import annotations

import functools
import io
import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sweep.errors import InvalidInputError, Problem
from sweep.plan import load_manifest
from sweep.results.record import RunRecord
from sweep.runtime import InstanceBatch, per_lane, resolve_plan, row_product
from sweep.runtime.controllers import numpy_policy, torch_policy
from sweep.runtime.numerics.rowwise import elu, identity, relu, tanh
from tests.runtime.scenes import bits, cart

NUMBERS = st.floats(-1e6, 1e6)
WIDTHS = (4, 33, 17, 1)
"""From what the cart's encoder shows to what its drive takes, through layers of odd sizes."""


def matrices(rows, columns):
    return arrays.arrays(np.float64, st.tuples(rows, columns), elements=NUMBERS)


@settings(max_examples=50, deadline=None)
@given(st.data(), st.integers(1, 40))
def test_the_product_adds_feature_after_feature_from_zero(data, features):
    x = data.draw(matrices(st.integers(1, 9), st.just(features)))
    weights = data.draw(matrices(st.just(features), st.integers(1, 9)))
    found = row_product(x, weights)
    for row, inputs in zip(found, x.tolist(), strict=True):
        sums = [functools.reduce(lambda a, b: a + b[0] * b[1], zip(inputs, column, strict=True), 0.0)
                for column in weights.T.tolist()]  # fmt: skip
        assert bits(row) == bits(sums)


@pytest.mark.parametrize(("features", "units"), [(1, 1), (2, 1), (3, 5), (31, 1), (33, 17), (64, 64), (127, 3)])
def test_the_product_of_a_row_is_the_same_in_any_number_of_rows_and_any_memory_layout(features, units):
    generator = np.random.default_rng(features * units)
    x = generator.standard_normal((300, features)) * 10.0 ** generator.integers(-6, 6, (300, features))
    weights = generator.standard_normal((features, units))
    alone = np.concatenate([row_product(x[row : row + 1], weights) for row in range(300)])
    for rows in (*range(1, 20), 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300):
        for first in {0, 1, 300 - rows} - {301 - rows}:
            assert row_product(x[first : first + rows], weights).tobytes() == alone[first : first + rows].tobytes()
    for other in (np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2], np.repeat(x, 3, axis=0)[::3], x[::-1][::-1]):
        for its in (np.asfortranarray(weights), np.repeat(weights, 2, axis=1)[:, ::2], weights.T.copy().T):
            assert row_product(other, its).tobytes() == alone.tobytes()


@pytest.mark.parametrize(
    ("activation", "truth"),
    [(tanh, math.tanh), (elu, lambda x: x if x > 0 else math.expm1(x)), (relu, lambda x: max(x, 0.0)),
     (identity, float)],
)  # fmt: skip
def test_activations_are_what_they_are_called_and_know_no_neighbours(activation, truth):
    generator = np.random.default_rng(1)
    x = np.concatenate([generator.normal(0, scale, 100) for scale in (1e-9, 1e-3, 1, 10, 1e3)])
    x = np.concatenate([x, [0.0, -0.0, 1e300, -1e300, 5e-324]])
    found = activation(x)
    assert found.tolist() == pytest.approx([truth(value) for value in x], rel=4e-16, abs=4e-16)
    assert all(bits(activation(x[i : i + n])) == bits(found[i : i + n]) for n in (1, 2, 3, 7) for i in range(0, 505, n))
    assert math.isnan(activation(np.array([math.nan]))[0])


def network(*widths, normal=False, seed=0):
    """Arrays of a network of these widths."""
    generator = np.random.default_rng(seed)
    made = {}
    for layer, (inputs, units) in enumerate(itertools.pairwise(widths)):
        made |= {f"w{layer}": generator.standard_normal((inputs, units)) / inputs, f"b{layer}": np.full(units, 0.1)}
    if normal:
        made |= {"mean": generator.standard_normal(widths[0]), "std": generator.uniform(0.5, 2, widths[0])}
    return made


def saved(made):
    stream = io.BytesIO()
    np.savez(stream, **made)
    return stream.getvalue()


@pytest.fixture
def policy_plan(tmp_path):
    """Plans of the cart under a policy whose file lies beside the manifest."""

    def call(content=None, parameters=None, *, kind="NumpyPolicy", file="weights", cell=None, **spec):
        (tmp_path / "policy.bin").write_bytes(saved(network(*WIDTHS)) if content is None else content)
        controller = {"class": f"sweep.runtime.controllers:{kind}", "period_s": 0.005, "inputs": "enc",
                      "outputs": "drive", "files": {file: "policy.bin"}, "parameters": parameters or {}}  # fmt: skip
        document = cart(controllers={"fb": {**controller, **spec}}, runtime={"timestep_s": 0.001, "duration_s": 0.06})
        return resolve_plan(load_manifest(document, folder=tmp_path), cell or {})

    return call


def refusal(call):
    with pytest.raises(InvalidInputError) as caught:
        call()
    return str(caught.value)


def policy(made, inputs, **parameters):
    """What a policy answers to observations of one input."""
    made = numpy_policy.Perceptron(made)
    activation = numpy_policy.ACTIVATIONS[parameters.get("activation", "tanh")]
    return made(np.asarray(inputs, np.float64), activation)


@pytest.mark.parametrize(("activation", "truth"), [("tanh", np.tanh), ("relu", lambda x: np.maximum(x, 0)),
                                                   ("elu", lambda x: np.where(x > 0, x, np.expm1(x)))])  # fmt: skip
def test_the_network_is_the_one_of_the_arrays(activation, truth):
    made = network(5, 8, 7, 3, normal=True)
    x = np.random.default_rng(2).standard_normal((6, 5))
    signal = truth(((x - made["mean"]) / made["std"]) @ made["w0"] + made["b0"])
    expected = truth(signal @ made["w1"] + made["b1"]) @ made["w2"] + made["b2"]
    np.testing.assert_allclose(policy(made, x, activation=activation), expected, rtol=1e-13, atol=1e-15)


def test_observations_are_the_inputs_in_order_and_actions_are_cut_over_the_outputs(tmp_path):
    """w copies what the inputs show, last entry first, to two drives of widths 1 and 2."""
    (tmp_path / "copy.npz").write_bytes(saved({"w0": np.eye(3)[::-1], "b0": np.zeros(3)}))
    document = cart(
        runtime={"timestep_s": 0.001, "duration_s": 0.05},
        components={
            "angle": {"type": "encoder", "joints": "hinge", "period_s": 0.001},
            "both": {"type": "encoder", "joints": ["slider", "hinge"], "period_s": 0.001},
            "pushing": {"type": "torque", "actuators": "push"},
        },
    )
    document["controllers"] = {
        "copy": {"class": "sweep.runtime.controllers:NumpyPolicy", "period_s": 0.005, "inputs": ["both", "angle"],
                 "outputs": ["pushing", "twisting"], "files": {"weights": "copy.npz"},
                 "parameters": {"activation": "identity", "output_scale": [2.0, 0.0, 1.0], "output_offset": 0.25,
                                "clip": [-9, 0.6]}},
    }  # fmt: skip
    text = document["model"]["xml"].replace("</actuator>", '<motor name="spin" joint="hinge"/></actuator>')
    document["model"]["xml"] = text
    document["components"]["twisting"] = {"type": "torque", "actuators": ["twist", "spin"]}
    instance = resolve_plan(load_manifest(document, folder=tmp_path)).instantiate(0)
    instance.advance(6)
    angle, (slider, hinge) = instance.output("angle").values[0], instance.output("both").values
    instance.advance(5)
    given = {e.component: e.data["values"] for e in instance.events() if e.kind == "input" and e.tick == 6}
    assert angle == hinge != slider
    assert list(given["pushing"]) == [2 * angle + 0.25]
    assert list(given["twisting"]) == [0.25, min(slider + 0.25, 0.6)]


BATCHES = [(1, None), (7, None), (7, 1), (64, 3)]


@pytest.mark.parametrize("activation", ["tanh", "relu", "elu"])
@pytest.mark.parametrize(("lanes", "max_block"), BATCHES)
def test_a_lane_under_a_policy_is_the_same_run_in_any_batch(policy_plan, activation, lanes, max_block):
    scales = [1.0, -30.0, 4.0]
    plans = [policy_plan(None, {"activation": activation, "output_scale": 1.0},
                         cell={"controllers.fb.parameters.output_scale": scale}) for scale in scales]  # fmt: skip
    assert len({plan.layout for plan in plans}) == 1
    chosen = [(plans[lane % 3], lane // 3) for lane in range(lanes)]
    records = InstanceBatch([p for p, _ in chosen], [s for _, s in chosen], max_block).run()
    for lane in {0, lanes // 2, lanes - 1}:
        plan, seed = chosen[lane]
        assert records[lane] == InstanceBatch([plan], [seed]).run()[0]
    assert len({record.trace_digest for record in records}) == lanes
    assert {record.remarks for record in records} == {()}


def test_a_plan_is_what_its_files_hold_and_not_where_they_lie(policy_plan, tmp_path):
    first = policy_plan()
    (tmp_path / "elsewhere.bin").write_bytes((tmp_path / "policy.bin").read_bytes())
    moved = policy_plan(cell={"controllers.fb.files.weights": "elsewhere.bin"})
    trained = policy_plan(saved(network(*WIDTHS, seed=1)))
    assert (first.plan_id, first.layout) == (moved.plan_id, moved.layout)
    assert trained.plan_id != first.plan_id
    assert trained.layout != first.layout
    # The Plan carries what it read: it travels without its files.
    (tmp_path / "policy.bin").unlink()
    assert InstanceBatch([first], [1]).run()[0] == InstanceBatch([moved], [1]).run()[0]
    assert "no such file" in refusal(lambda: resolve_plan(first.manifest))


def test_a_plan_without_files_is_the_plan_it_was(tmp_path):
    plan = resolve_plan(cart())
    described = plan.manifest.model_dump(mode="json", by_alias=True)
    assert described["controllers"]["fb"].pop("files") == {}
    assert plan.files == {}
    from sweep.digest import content_id
    from sweep.plan.plan import NOT_OF_THE_PLAN

    for section, left_out in NOT_OF_THE_PLAN.items():
        described[section] = {key: value for key, value in described[section].items() if key not in left_out}
    assert plan.plan_id == content_id(
        {"manifest": described, "timestep": str(plan.grid.timestep), "model": plan.model.source_id}
    )


@pytest.mark.parametrize(
    ("content", "spec", "words"),
    [
        (b"hello", {}, ["controllers.fb.files.weights: is not an .npz file"]),
        (saved({"w0": np.eye(4), "b1": np.zeros(4)}), {}, ["holds the arrays b1, w0; expected are b0, w0"]),
        (saved({"w0": np.ones((1, 4)), "b0": np.zeros(1)}), {}, ["w0 has shape (1, 4)", "save its transpose"]),
        (saved({"w0": np.full((4, 1), np.nan), "b0": np.zeros(1)}), {}, ["not finite in w0"]),
        (saved({**network(4, 1), "mean": np.zeros(4), "std": np.zeros(4)}), {}, ["no std is 0"]),
        (saved({**network(4, 1), "mean": np.zeros(4)}), {}, ["expected are b0, mean, std, w0"]),
        (None, {"parameters": {"activation": "tanhh"}}, ["parameters.activation", "did you mean 'tanh'"]),
        (None, {"parameters": {"activatoin": "tanh", "clip": 3}},
         ["parameters.activatoin: unknown parameter", "did you mean 'activation'", "parameters.clip: is [least, gre"]),
        (None, {"files": {"wieghts": "policy.bin"}}, ["did you mean 'weights'", "needs a weights"]),
        (None, {"files": {"weights": "polcy.bin"}}, ["files.weights: no such file", "there is: policy.bin"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_policy_is_told_before_anything_runs(policy_plan, content, spec, words):
    message = refusal(lambda: policy_plan(content, **spec))
    assert all(word in message for word in words), message


def test_a_network_of_other_widths_says_so(policy_plan):
    with pytest.raises(ValueError, match=r"makes 2 numbers of 3, but its inputs \(enc\) show 4 and .*drive\) take 1"):
        InstanceBatch([policy_plan(saved(network(3, 2)))], [0])
    with pytest.raises(ValueError, match="output_scale has 2 numbers for 1"):
        InstanceBatch([policy_plan(None, {"output_scale": [1, 2]})], [0])


def test_what_a_controller_remarks_is_in_the_records_and_changes_nothing_else():
    document = cart()
    plain = InstanceBatch([resolve_plan(document)], [0]).run()[0]
    document["controllers"]["fb"]["class"] = "tests.runtime.test_policies:Talkative"
    record = InstanceBatch([resolve_plan(document)], [0]).run()[0]
    assert record.remarks == ("controllers.fb: slow today",)
    assert record.trace_digest == plain.trace_digest
    assert RunRecord.from_json(record.to_json()).remarks == record.remarks
    before = {key: value for key, value in record.to_json().items() if key != "remarks"}
    assert RunRecord.from_json(before) == record  # as earlier versions wrote it


class Talkative:
    remarks = ("slow today",)

    def __init__(self, setup):
        from sweep.runtime.controllers import StateFeedback

        self.compute = StateFeedback(setup).compute

    def compute(self, step):
        raise NotImplementedError


@per_lane
class Careful:
    """One object per lane, which is told what is wrong with it as any other."""

    packages = ("numpy",)

    def __init__(self, setup):
        self.remarks = ("slow today",)
        self.length = len(setup.files["table"])

    @staticmethod
    def problems(spec, files):
        return [] if "table" in files else [Problem("files", "needs a table")]

    def compute(self, step):
        return [-self.length * step.inputs["enc"].values[1]]


def test_a_controller_for_one_lane_has_files_problems_packages_and_remarks_too(policy_plan):
    own = {"class": "tests.runtime.test_policies:Careful"}
    assert "controllers.fb.files: needs a table" in refusal(lambda: policy_plan(b"abc", **own))
    plan = policy_plan(b"abc", file="table", **own)
    (first, second) = InstanceBatch([plan, plan], [0, 0]).run()
    assert first.trace_digest == second.trace_digest
    assert first.remarks == ("controllers.fb: slow today",)
    assert Careful.packages == ("numpy",)
    longer = InstanceBatch([policy_plan(b"abcd", file="table", **own)], [0]).run()[0]
    assert longer.trace_digest != first.trace_digest


# With torch, where it is installed.


@pytest.fixture(scope="module")
def torch():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("torch", reason="torch is optional: pip install torch")


def scripted(torch, module):
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.save(torch.jit.script(module.eval()), stream)
    return stream.getvalue()


def exported(torch, module, width):
    stream = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(torch.export.export(module.eval(), (torch.zeros(1, width),)), stream)
    return stream.getvalue()


def layers(torch):
    torch.manual_seed(3)
    return torch.nn.Sequential(torch.nn.Linear(4, 33), torch.nn.ELU(), torch.nn.Linear(33, 1))


def test_without_torch_one_line_says_what_to_type(policy_plan, monkeypatch):
    monkeypatch.setattr(torch_policy.importlib.util, "find_spec", lambda name: None)
    message = refusal(lambda: policy_plan(kind="TorchPolicy", file="module"))
    assert "controllers.fb.class: TorchPolicy needs torch, which is not installed; type: pip install torch" in message
    assert "files.module: is neither TorchScript" in message


@pytest.mark.parametrize("form", ["script", pytest.param("export", marks=pytest.mark.slow)])
def test_a_network_whose_rows_depend_on_each_other_is_computed_lane_by_lane_and_says_so(torch, policy_plan, form):
    module = layers(torch)
    content = scripted(torch, module) if form == "script" else exported(torch, module, 4)
    plan = policy_plan(content, {"output_scale": 10}, kind="TorchPolicy", file="module")
    together = InstanceBatch([plan] * 7, range(7)).run()
    alone = [InstanceBatch([plan], [seed], 2).run()[0] for seed in range(7)]
    assert together == alone
    assert {record.remarks for record in together} == {(f"controllers.fb: {torch_policy.ONE_AT_A_TIME}",)}
    assert {record.remarks for record in alone} == {()}


def test_torch_answers_what_numpy_answers(torch, policy_plan):
    module = layers(torch).double()
    made = {}
    for layer, linear in enumerate(module[::2]):
        made |= {f"w{layer}": linear.weight.detach().numpy().T, f"b{layer}": linear.bias.detach().numpy()}
    records = [
        InstanceBatch([policy_plan(content, {**parameters, "output_scale": 10}, kind=kind, file=file)], [1]).run()[0]
        for content, parameters, kind, file in (
            (scripted(torch, module), {"dtype": "float64"}, "TorchPolicy", "module"),
            (saved(made), {"activation": "elu"}, "NumpyPolicy", "weights"),
        )
    ]
    assert records[0].metrics["angle"] == pytest.approx(records[1].metrics["angle"], rel=1e-9)


def test_a_network_whose_rows_are_independent_is_computed_at_once(torch, policy_plan):
    class Rows(torch.nn.Module):
        def forward(self, x):
            return torch.clamp(x[:, :1] * -20.0 + x[:, 1:2], -3.0, 3.0)

    plan = policy_plan(scripted(torch, Rows()), kind="TorchPolicy", file="module")
    together = InstanceBatch([plan] * 7, range(7)).run()
    assert {record.remarks for record in together} == {()}
    assert together == [InstanceBatch([plan], [seed]).run()[0] for seed in range(7)]


def test_a_network_that_remembers_is_refused(torch, policy_plan):
    class Memory(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.zeros(1, 1))

        def forward(self, x):
            self.last += x[:, :1]
            return self.last

    plan = policy_plan(scripted(torch, Memory()), kind="TorchPolicy", file="module")
    with pytest.raises(ValueError, match="answers one observation in two ways"):
        InstanceBatch([plan], [0])


def test_an_answer_of_another_shape_is_told(torch, policy_plan):
    plan = policy_plan(scripted(torch, torch.nn.Linear(4, 2)), kind="TorchPolicy", file="module")
    with pytest.raises(ValueError, match=r"answers torch.Size\(\[1, 2\]\), expected .* \(1, 1\)"):
        InstanceBatch([plan], [0])
