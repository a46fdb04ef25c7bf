"""Faults to put into a module, one at a time: what a tired person could have written instead.

A comparison at its bound, a condition the other way round, a wrong operator, a number beside the
right one, a statement that is left out. Not among them, because a test that noticed it would only
repeat the code: texts and where they are cut, log lines, annotations, decorators, the values of
constants and defaults, how long something may take, and `strict` where lengths are equal anyway.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
NOT_LOGIC = {"annotation", "returns", "decorator_list", "defaults", "kw_defaults"}
DURATIONS = ("_s", "timeout", "deadline")
SHORTEST_CUT = 32
"""A slice of that length and more cuts a text for people; a shorter one takes something apart."""


@dataclass(frozen=True, slots=True)
class Fault:
    line: int
    what: str
    commit: Callable[[], None]
    """Put it into the syntax that it was found in."""


def faulty(source: str, number: int) -> str:
    """*source* with the fault of that *number*, in the order of `faults`."""
    syntax = ast.parse(source)
    list(faults(syntax))[number].commit()
    return ast.unparse(ast.fix_missing_locations(syntax))


def faults(syntax: ast.Module) -> Iterator[Fault]:
    """All that could be put into *syntax*, always in the same order."""
    for statement in syntax.body:
        if isinstance(statement, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _inside(statement)


def _inside(node: ast.AST) -> Iterator[Fault]:
    for name, value in ast.iter_fields(node):
        if name in NOT_LOGIC or (isinstance(node, ast.ClassDef) and name != "body"):
            continue
        for position, child in enumerate(value if isinstance(value, list) else [value]):
            if not isinstance(child, ast.AST) or _is_log_line(child) or _is_a_choice(child):
                continue
            if isinstance(node, ast.ClassDef) and isinstance(child, ast.Assign | ast.AnnAssign):
                continue  # a default
            if isinstance(child, ast.stmt):
                yield from _left_out(value, position)
            yield from _at(child)
            yield from _inside(child)


def _is_log_line(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and ast.unparse(node).startswith(("log.", "logger."))


def _is_a_choice(node: ast.AST) -> bool:
    """Whether another value would do as well."""
    if isinstance(node, ast.keyword) and isinstance(node.value, ast.Constant):
        return (node.arg or "").endswith((*DURATIONS, "strict"))
    if isinstance(node, ast.Slice) and isinstance(node.upper, ast.Constant):
        cut = node.upper.value
        return node.lower is None and isinstance(cut, int) and cut >= SHORTEST_CUT
    return False


def _left_out(body: list[ast.stmt], position: int) -> Iterator[Fault]:
    statement = body[position]
    call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call | ast.Await)
    if call or isinstance(statement, ast.AugAssign | ast.Raise | ast.Delete | ast.Break):

        def commit() -> None:
            body[position] = ast.Pass()

        yield Fault(statement.lineno, f"left out: {_said(statement)}", commit)


def _at(node: ast.AST) -> Iterator[Fault]:
    if isinstance(node, ast.Compare):
        for position, operator in enumerate(node.ops):
            yield _other(node, node.ops, position, COMPARISONS[type(operator)])
    elif isinstance(node, ast.BoolOp):
        other = ast.Or if isinstance(node.op, ast.And) else ast.And
        yield _set(node, "op", other(), f"{_name(node.op)} → {_name(other())}")
    elif isinstance(node, ast.BinOp | ast.AugAssign) and type(node.op) in OPERATORS:
        if not _joins_texts(node):
            other_operator = OPERATORS[type(node.op)]()
            what = f"{_name(node.op)} → {_name(other_operator)}"
            yield _set(node, "op", other_operator, what)
    elif isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(
        node.test, ast.Compare
    ):
        yield _set(node, "test", ast.UnaryOp(ast.Not(), node.test), "the other way round")
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield _set(node, "value", not node.value, f"{node.value} → {not node.value}")
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        if node.value + 1 != node.value:  # as in the largest floats
            yield _set(node, "value", node.value + 1, f"{node.value} → {node.value + 1}")
    elif isinstance(node, ast.Return) and node.value is not None and not _is_flat(node.value):
        yield _set(node, "value", ast.Constant(None), "returns None")


def _other(
    node: ast.Compare, operators: list[ast.cmpop], position: int, other: type[ast.cmpop]
) -> Fault:
    what = f"{_name(operators[position])} → {other.__name__} in {_said(node)}"

    def commit() -> None:
        operators[position] = other()

    return Fault(node.lineno, what, commit)


def _set(node: ast.stmt | ast.expr, field: str, value: object, what: str) -> Fault:
    return Fault(node.lineno, f"{what} in {_said(node)}", lambda: setattr(node, field, value))


def _joins_texts(node: ast.BinOp | ast.AugAssign) -> bool:
    """Or types, which are joined as sets are: a fault in it fails before anything is tested."""
    return any(
        isinstance(each, ast.JoinedStr)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str | bytes | None))
        for each in ast.walk(node)
    )


def _is_flat(node: ast.expr) -> bool:
    """None is no other answer than None, and to most callers none than False."""
    return isinstance(node, ast.Constant) and isinstance(node.value, bool | None)


def _name(operator: ast.AST) -> str:
    return type(operator).__name__


def _said(node: ast.AST) -> str:
    first, *rest = ast.unparse(node).splitlines()
    return f"{first[:80]}…" if rest or len(first) > 80 else first
