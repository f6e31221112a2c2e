"""Which codes of findings there are, read from the source: the package's Python and its queries."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import sqlglot
from sqlglot import exp

_CODE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def codes_in_python(package: Path) -> set[str]:
    """The texts that Python code gives out as a ``code``."""
    return _PythonCodes(package).codes()


class _PythonCodes:
    """String constants that end up as a ``code``, whatever takes it: a parameter or field of that name, a
    member of a dictionary, or a function whose result is unpacked into a variable of that name."""

    def __init__(self, package: Path) -> None:
        trees = [ast.parse(path.read_text("utf-8")) for path in sorted(package.rglob("*.py"))]
        self._nodes = [node for tree in trees for node in ast.walk(tree)]
        self._returned: defaultdict[str, list[ast.expr]] = defaultdict(list)
        self._places: defaultdict[str, set[int]] = defaultdict(set)
        for node in self._nodes:
            if isinstance(node, ast.FunctionDef):
                self._learn(node.name, [argument.arg for argument in node.args.args])
                returns = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return)]
                self._returned[node.name] += [value for value in returns if value is not None]
            elif isinstance(node, ast.ClassDef):
                self._learn_class(node)

    def _learn(self, callee: str, names: list[str]) -> None:
        """At which place the callee takes a code."""
        names = names[1:] if names[:1] in (["self"], ["cls"]) else names
        if "code" in names:
            self._places[callee].add(names.index("code"))

    def _learn_class(self, node: ast.ClassDef) -> None:
        fields = [inner.target for inner in node.body if isinstance(inner, ast.AnnAssign)]
        self._learn(node.name, [field.id for field in fields if isinstance(field, ast.Name)])
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef) and inner.name == "__init__":
                self._learn(node.name, [argument.arg for argument in inner.args.args])

    def codes(self) -> set[str]:
        given = (value for node in self._nodes for value in self._given(node))
        texts = {text for value in given for text in _texts(value)}
        return {text for text in texts if _CODE.fullmatch(text)}

    def _given(self, node: ast.AST) -> Iterator[ast.expr]:
        if isinstance(node, ast.Call):
            places = self._places.get(_callee(node), ())
            yield from (node.args[place] for place in places if place < len(node.args))
            yield from (keyword.value for keyword in node.keywords if keyword.arg == "code")
        elif isinstance(node, ast.Dict):
            members = zip(node.keys, node.values, strict=True)
            yield from (
                value for key, value in members if isinstance(key, ast.Constant) and key.value == "code"
            )
        elif isinstance(node, ast.FunctionDef):
            defaults = zip(reversed(node.args.args), reversed(node.args.defaults), strict=False)
            yield from (default for argument, default in defaults if argument.arg == "code")
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            yield from self._unpacked(node.targets[0], _callee(node.value))

    def _unpacked(self, target: ast.expr, callee: str) -> Iterator[ast.expr]:
        names = [getattr(name, "id", "") for name in target.elts] if isinstance(target, ast.Tuple) else []
        if "code" in names:
            place = names.index("code")
            tuples = [value for value in self._returned[callee] if isinstance(value, ast.Tuple)]
            yield from (value.elts[place] for value in tuples)


def _callee(call: ast.Call) -> str:
    name = call.func
    return name.id if isinstance(name, ast.Name) else name.attr if isinstance(name, ast.Attribute) else ""


def _texts(value: ast.expr) -> Iterator[str]:
    """The constant texts that an expression may have as its value."""
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.IfExp):
        yield from (*_texts(value.body), *_texts(value.orelse))


def codes_in_sql(folder: Path) -> set[str]:
    """The texts that query files give out in a column ``code``."""
    aliases = [
        alias
        for path in sorted(folder.rglob("*.sql"))
        for alias in sqlglot.parse_one(path.read_text("utf-8"), dialect="duckdb").find_all(exp.Alias)
        if alias.alias == "code"
    ]
    return {literal.name for alias in aliases for literal in alias.find_all(exp.Literal) if literal.is_string}
