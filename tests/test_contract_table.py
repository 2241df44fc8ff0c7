"""docs/contract.md keeps its word: every sentence of the contract has a proof that exists and runs, or a reason."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "docs" / "contract.md"
SECTION = re.compile(r"^### (\d+\.\d+) .+: (\d+) (?:sentence|point|case)s?$")
ROW = re.compile(r"^\| (\d+\.\d+\.\d+) \| (.+?) \| (.+?) \|$")
NODE = re.compile(r"`([\w/]+\.py(?:::\w+)+)`")
REASON = re.compile(r"^(?:later|not testable): (?:\S+ ){4,}\S+")
NEVER_RUN = {"skip", "xfail"}


@dataclass(frozen=True)
class Section:
    number: str
    stated: int
    rows: list[tuple[str, str, str]]


def parsed(text):
    """The sections of a table: what each says of itself, and its rows (number, demand, proof)."""
    sections = []
    for line in text.splitlines():
        if line.startswith("### "):
            match = SECTION.match(line)
            assert match, f"a section says its number, title and how many sentences it has: {line!r}"
            sections.append(Section(match[1], int(match[2]), []))
        elif line.startswith("| ") and not line.startswith("| |"):
            match = ROW.match(line)
            assert match, f"a row has a number, what is demanded, and a proof: {line!r}"
            sections[-1].rows.append(match.groups())
    return sections


def problems_of(text):
    """What is wrong with a table, one line each."""
    sections = parsed(text)
    found = [] if sections else ["there is no section"]
    numbers = [section.number for section in sections]
    found += [f"section {number} stands twice" for number in {n for n in numbers if numbers.count(n) > 1}]
    for section in sections:
        expected = [f"{section.number}.{k}" for k in range(1, section.stated + 1)]
        if [number for number, *_ in section.rows] != expected:
            found.append(f"section {section.number} has rows {[n for n, *_ in section.rows]}, not {expected}")
        for number, _, proof in section.rows:
            found += [f"{number}: {problem}" for problem in proof_problems(proof)]
    return found


def proof_problems(proof):
    nodes, reason = NODE.findall(proof), proof.startswith(("later:", "not testable:"))
    if reason and not REASON.match(proof):
        yield f"{proof!r} gives no reason"
    if not reason and (not nodes or NODE.sub("", proof).replace("<br>", "").strip()):
        yield f"a proof is tests, or 'later:' or 'not testable:' with the reason; found {proof!r}"
    for node in nodes:
        path, _, names = node.partition("::")
        tests = proofs_in(ROOT / path)
        if names not in tests:
            yield f"there is no test {node}"
        elif tests[names]:
            yield f"{node} never runs: {tests[names]}"


@cache
def proofs_in(path):
    """The tests of a module, ``test_x`` or ``TestY::test_x``, and why one never runs, empty if it does."""
    if not path.is_file():
        return {}
    module = ast.parse(path.read_text())
    whole = next((why for statement in module.body if (why := stops_the_module(statement))), "")
    found = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            found[node.name] = whole or never_runs(node)
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            mine = whole or marked(node.decorator_list)
            inner = [item for item in node.body if isinstance(item, ast.FunctionDef)]
            found |= {f"{node.name}::{item.name}": mine or never_runs(item) for item in inner}
    return found


def stops_the_module(statement):
    if isinstance(statement, ast.Assign) and any(ast.unparse(target) == "pytestmark" for target in statement.targets):
        values = statement.value.elts if isinstance(statement.value, ast.List | ast.Tuple) else [statement.value]
        return marked(values)
    return called(statement)


def never_runs(function):
    """Why a test never runs: a mark, or a skip that stands outside of every condition."""
    return marked(function.decorator_list) or next((why for s in function.body if (why := called(s))), "")


def marked(marks):
    """The first mark that keeps its test from running whatever the conditions; empty if there is none."""
    for mark in marks:
        call = mark if isinstance(mark, ast.Call) else None
        name = ast.unparse(call.func if call else mark)
        conditional = call is not None and (call.args and name.endswith("xfail"))
        if name.rpartition(".")[2] in NEVER_RUN and "mark" in name and not conditional:
            return name
    return ""


def called(statement):
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        name = ast.unparse(statement.value.func)
        if name in ("pytest.skip", "pytest.xfail", "pytest.importorskip"):
            return name
    return ""


def test_every_sentence_has_a_proof_or_a_reason():
    assert problems_of(TABLE.read_text()) == []


def test_every_text_is_there():
    counts = {}
    for section in parsed(TABLE.read_text()):
        part = section.number.partition(".")[0]
        counts[part] = counts.get(part, 0) + section.stated
    # Sentences of the four texts, then what was decided beyond them, then the timing cases.
    assert counts == {"1": 37, "2": 36, "3": 33, "4": 18, "5": 20, "6": 34}


GOOD = """# A table

### 1.0 Opening: 2 sentences

| | it demands | proof |
|---|---|---|
| 1.0.1 | One. | `tests/test_contract_table.py::test_every_text_is_there` |
| 1.0.2 | Two. | later: there is nothing of the kind yet |
"""
MODULE = """
import pytest

@pytest.mark.skip(reason="no")
def test_marked(): pass

@pytest.mark.skipif(True, reason="somewhere")
def test_conditional(): pass

@pytest.mark.xfail
def test_expected_to_fail(): pass

@pytest.mark.slow
def test_slow(): pass

def test_skips_at_once():
    pytest.skip("no")

def test_skips_sometimes():
    if sometimes: pytest.skip("no")

class TestGroup:
    def test_in_a_class(self): pass

@pytest.mark.skip
class TestOff:
    def test_in_a_class(self): pass
"""


def test_a_good_table_is_good():
    assert problems_of(GOOD) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("| 1.0.2 | Two. | later: there is nothing of the kind yet |\n", "", "section 1.0 has rows ['1.0.1'], not"),
        ("1.0.2 |", "1.0.1 |", "section 1.0 has rows ['1.0.1', '1.0.1'], not"),
        ("2 sentences", "3 sentences", "not ['1.0.1', '1.0.2', '1.0.3']"),
        (
            "::test_every_text_is_there",
            "::test_nowhere",
            "1.0.1: there is no test tests/test_contract_table.py::test_no",
        ),
        ("tests/test_contract_table.py", "tests/test_nowhere.py", "1.0.1: there is no test tests/test_nowhere.py"),
        ("later: there is nothing of the kind yet", "later: soon", "1.0.2: 'later: soon' gives no reason"),
        ("later: there is nothing of the kind yet", "not yet", "1.0.2: a proof is tests, or"),
        ("`tests/test_contract_table.py::test_every_text_is_there`", "see elsewhere", "1.0.1: a proof is tests, or"),
        ("| 1.0.2 | Two. |", "### 1.0 Again: 1 sentence\n| 1.0.1 | Two. |", "section 1.0 stands twice"),
        ("# A table", "# A table\n\n### 0.1 Nothing: 1 sentence", "section 0.1 has rows [], not ['0.1.1']"),
    ],
)
def test_a_table_that_is_wrong_is_found_out(old, new, said):
    assert old in GOOD
    assert any(said in problem for problem in problems_of(GOOD.replace(old, new)))


def test_a_test_that_never_runs_is_no_proof(tmp_path):
    (tmp_path / "test_module.py").write_text(MODULE)
    assert proofs_in(tmp_path / "test_module.py") == {
        "test_marked": "pytest.mark.skip",
        "test_conditional": "",
        "test_expected_to_fail": "pytest.mark.xfail",
        "test_slow": "",
        "test_skips_at_once": "pytest.skip",
        "test_skips_sometimes": "",
        "TestGroup::test_in_a_class": "",
        "TestOff::test_in_a_class": "pytest.mark.skip",
    }
    for line in (
        "pytestmark = pytest.mark.skip",
        "pytestmark = [pytest.mark.slow, pytest.mark.skip]",
        "pytest.skip('')",
    ):
        path = tmp_path / f"test_{len(line)}.py"
        path.write_text(f"import pytest\n{line}\n\ndef test_x(): pass\n")
        assert proofs_in(path)["test_x"]
