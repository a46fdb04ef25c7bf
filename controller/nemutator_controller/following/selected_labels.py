"""Which labels of a running pod its Services find it by: pure.

A policy may write whatever it likes into pods that are being made. One that runs and that serves would get no more
requests without the label that a Service has selected it by.
"""

from collections.abc import Iterable, Mapping

from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import KeyStep

LABELS = "metadata.labels["


def found_by(
    edit: Edit, labels: Mapping[str, object], selectors: Mapping[str, Mapping[str, str]]
) -> str:
    """The Service, by name, that would not find a pod with *labels* any more after *edit*; empty: there is none.
    *selectors*: of the Services of its namespace."""
    last = parse_path(edit.path).steps[-1]
    if not edit.path.startswith(LABELS) or not isinstance(last, KeyStep):
        return ""
    key = last.name
    return next(
        (
            name
            for name, selector in selectors.items()
            if key in selector
            and edit.after != (selector[key],)
            and _selects(selector.items(), labels)
        ),
        "",
    )


def _selects(wanted: Iterable[tuple[str, str]], labels: Mapping[str, object]) -> bool:
    return all(labels.get(key) == value for key, value in wanted)
