"""Exclusions such as ``latency > 10ms and mass_scale > 1.5``: read by Python's grammar, never executed as Python."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sweep.design.cell import shown
from sweep.errors import InvalidInputError, Problem, did_you_mean
from sweep.plan.units import UNITS, quantity

Values = Mapping[str, Any]
Term = Callable[[Values], Any]
"""A part of a condition: what it says for the values of a cell."""

_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda value, several: value in several,
    ast.NotIn: lambda value, several: value not in several,
}
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
_SIGNS: Mapping[type[ast.unaryop], int] = {ast.USub: -1, ast.UAdd: 1}
_WORDS = {"true": True, "false": False, "null": None}
_ALLOWED = "comparisons, and, or, not, + - * /, names, texts in quotes, and numbers, with a unit or in SI"
_SPELLINGS = {r"&+": "and", r"\|+": "or", r"!(?!=)": "not", r"(?<![<>=!])=(?!=)": "=="}
"""What other languages write, and what it is here."""

_UNIT = "|".join(sorted({re.escape(text) for unit in UNITS.values() for text in unit}, key=len, reverse=True))
_TOKEN = re.compile(
    r"""(?P<text>'[^']*'|"[^"]*")|(?P<name>[A-Za-z_]\w*(?:\.\w+)+)"""
    rf"""|(?<![\w.])(?P<quantity>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*(?:{_UNIT}))(?![\w/^²])"""
)
"""What Python's grammar does not have: paths with the index of a list, and numbers with units."""

_PLACE = "__{}__"
_PLACED = re.compile(r"__\d+__")


def condition(text: str, units: Mapping[str, str], nominal: Values) -> Callable[[Values], bool]:
    """What a condition says of the values of a cell.

    Args:
        text: the condition; bare numbers are in SI units.
        units: the names that it may use, with their SI units, ``""`` for a plain number or anything else.
        nominal: values of these names, to try it with.

    Returns:
        The test; it raises an InvalidInputError for values that the condition cannot be evaluated with.

    Raises:
        InvalidInputError: every unknown name or unit, whatever a condition cannot have in it, or that it cannot be
            evaluated with the nominal values.
    """
    reader = _Reader(text, units)
    test = partial(_tested, text, reader.read())
    if reader.problems:
        raise InvalidInputError("exclude", dict.fromkeys(reader.problems))
    test(nominal)
    return test


def _tested(text: str, term: Term, values: Values) -> bool:
    try:
        return bool(term(values))
    except (TypeError, ArithmeticError) as error:
        given = ", ".join(f"{name}={shown(value)}" for name, value in values.items())
        problem = Problem(f"exclude={text}", f"cannot be worked out ({error}) for {given}")
        raise InvalidInputError("exclude", [problem]) from None


class _Reader:
    """Makes terms of a condition's nodes, and notes every problem."""

    def __init__(self, text: str, units: Mapping[str, str]) -> None:
        self._text = text
        self._units = units
        self._tokens: dict[str, re.Match[str]] = {}
        self.problems: list[Problem] = []

    def read(self) -> Term:
        """The whole condition."""
        source = _TOKEN.sub(self._placed, self._text).strip()
        try:
            return self._condition(ast.parse(source, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            offset = getattr(error, "offset", None) or 1
            rest = self._restored(source[offset - 1 :])
            where = f"cannot be read at {rest!r}" if rest else "cannot be read, it ends too early"
            return self._nothing(where)

    def _condition(self, node: ast.expr) -> Term:
        if isinstance(node, ast.BoolOp):
            terms = [self._condition(value) for value in node.values]
            return partial(_every if isinstance(node.op, ast.And) else _some, terms)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return partial(_negated, self._condition(node.operand))
        if isinstance(node, ast.Compare) and all(type(op) in _COMPARISONS for op in node.ops):
            parts = [node.left, *node.comparators]
            unit = next(filter(None, map(self._unit, parts)), "")
            return partial(_compared, [self._term(p, unit) for p in parts], [_COMPARISONS[type(op)] for op in node.ops])
        if isinstance(node, ast.Name):
            return partial(_truth, self._named(node, ""))
        return self._refused(node, "is no condition")

    def _term(self, node: ast.expr, unit: str) -> Term:
        """A value; ``unit`` is what quantities in it are measured in."""
        if isinstance(node, ast.Name):
            return self._named(node, unit)
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
            if isinstance(node.value, str) and unit:
                return self._quantity(node.value, unit)
            return partial(_constant, node.value)
        if isinstance(node, ast.List | ast.Tuple):
            return partial(_listed, [self._term(item, unit) for item in node.elts])
        if isinstance(node, ast.UnaryOp) and type(node.op) in _SIGNS:
            return partial(
                _computed, operator.mul, partial(_constant, _SIGNS[type(node.op)]), self._term(node.operand, unit)
            )
        if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
            inner = "" if isinstance(node.op, ast.Mult | ast.Div) else unit
            return partial(
                _computed, _ARITHMETIC[type(node.op)], self._term(node.left, inner), self._term(node.right, inner)
            )
        return self._refused(node, "is not allowed")

    def _named(self, node: ast.Name, unit: str) -> Term:
        """What a name stands for: a value of the cell, a quantity that was written here, or true, false or null."""
        token, name = self._tokens.get(node.id), self._restored(node.id)
        if token is not None and token["quantity"] is not None:
            return self._quantity(name, unit)
        if name in self._units:
            return operator.itemgetter(name)
        if name in _WORDS:
            return partial(_constant, _WORDS[name])
        return self._wrong(f"unknown name {name!r}{did_you_mean(name, list(self._units))}")

    def _quantity(self, text: str, unit: str) -> Term:
        try:
            return partial(_constant, quantity(text, unit))
        except InvalidInputError as error:
            return self._wrong(error.problems[0].message)

    def _unit(self, node: ast.expr) -> str:
        """The SI unit of a value as far as its names tell, ``""`` otherwise."""
        if isinstance(node, ast.Name):
            return self._units.get(self._restored(node.id), "")
        if isinstance(node, ast.UnaryOp):
            return self._unit(node.operand)
        if isinstance(node, ast.List | ast.Tuple):
            return next(filter(None, map(self._unit, node.elts)), "")
        if not isinstance(node, ast.BinOp):
            return ""
        left, right = self._unit(node.left), self._unit(node.right)
        if isinstance(node.op, ast.Mult | ast.Div):
            return "" if right and (left or isinstance(node.op, ast.Div)) else left or right
        return left or right

    def _refused(self, node: ast.expr, why: str) -> Term:
        return self._nothing(f"{self._restored(ast.unparse(node))!r} {why}")

    def _nothing(self, why: str) -> Term:
        spelled = ((re.search(pattern, self._text), word) for pattern, word in _SPELLINGS.items())
        better = next((f"; write {word!r} for {found[0]!r}" for found, word in spelled if found), "")
        return self._wrong(f"{why}{better}; allowed are {_ALLOWED}")

    def _wrong(self, message: str) -> Term:
        self.problems.append(Problem(f"exclude={self._text}", message))
        return partial(_constant, None)

    def _placed(self, token: re.Match[str]) -> str:
        if token["text"] is not None:
            return token[0]
        place = _PLACE.format(len(self._tokens))
        self._tokens[place] = token
        return place

    def _restored(self, source: str) -> str:
        return _PLACED.sub(lambda place: self._tokens[place[0]][0], source)


def _constant(value: Any, _: Values) -> Any:
    return value


def _listed(terms: Sequence[Term], values: Values) -> tuple[Any, ...]:
    return tuple(term(values) for term in terms)


def _computed(operation: Callable[[Any, Any], Any], left: Term, right: Term, values: Values) -> Any:
    return operation(left(values), right(values))


def _compared(terms: Sequence[Term], comparisons: Sequence[Callable[[Any, Any], Any]], values: Values) -> bool:
    found = [term(values) for term in terms]
    return all(compare(left, right) for compare, left, right in zip(comparisons, found, found[1:], strict=False))


def _every(terms: Sequence[Term], values: Values) -> bool:
    return all(term(values) for term in terms)


def _some(terms: Sequence[Term], values: Values) -> bool:
    return any(term(values) for term in terms)


def _truth(term: Term, values: Values) -> bool:
    value = term(values)
    if not isinstance(value, bool):
        raise TypeError(f"{shown(value)} is neither true nor false")
    return value


def _negated(term: Term, values: Values) -> bool:
    return not term(values)
