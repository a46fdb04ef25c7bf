"""A document for programs whose last list is too long to be in memory at once; as `documents.py` would write all of it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from textwrap import indent

from nemutator_ctl.documents import Output, rendered


def rendered_in_parts(
    head: Mapping[str, object], name: str, items: Iterable[object], output: Output
) -> Iterator[str]:
    """*head*, and after it the list *name* with *items*."""
    if output is not Output.JSON:
        yield rendered(dict(head), output)
        begun = False
        for item in items:
            yield ("" if begun else f"{name}:\n") + rendered([item], output)
            begun = True
        if not begun:
            yield rendered({name: []}, output)
        return
    yield json.dumps({**head, name: []}, indent=2).removesuffix("]\n}")
    between = "\n"
    for item in items:
        yield between + indent(json.dumps(item, indent=2), "    ")
        between = ",\n"
    yield ("]" if between == "\n" else "\n  ]") + "\n}\n"
