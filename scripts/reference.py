"""Writes docs/reference.md from the declarations: settings, metrics, log keys, exit codes."""

import importlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from nemutator_common import names, settings
from nemutator_common.errors import PERMANENT, ExitCode

TARGET = Path(__file__).parents[1] / "docs" / "reference.md"
MODULES = (
    "nemutator_ctl.settings",
    "nemutator_controller.settings.brain",
    "nemutator_controller.settings.admission",
    "nemutator_agent.settings.observe",
    "nemutator_agent.settings.credentials",
    "nemutator_agent.settings.mount",
)


def schemas() -> Iterator[type[settings.Shared]]:
    """The settings class of every role, in the order of `names.ROLES`."""
    found = {
        thing.role: thing
        for module in MODULES
        for thing in vars(importlib.import_module(module)).values()
        if isinstance(thing, type) and issubclass(thing, settings.Shared) and hasattr(thing, "role")
    }
    return (found[role] for role in names.ROLES)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    head = list(head)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in lines
    )


def _settings(fields: Iterable[settings.Field]) -> str:
    return table(
        ("flag", "environment", "file", "default", "meaning"),
        (
            (
                f"`{field.flag}`",
                f"`{field.variable}`",
                f"`{field.key}`",
                "" if field.default in (None, "") else f"`{field.default}`",
                field.meaning,
            )
            for field in fields
        ),
    )


def _parts() -> Iterator[str]:
    yield "# Reference"
    yield "Made by `make fmt` from `names/`, `errors.py` and the settings classes; not edited."
    yield "## Settings"
    yield (
        "A flag wins over the environment, the environment over the file (`--config`, TOML), the "
        "file over the default. `--print-settings` shows what is in force, and from where."
    )
    yield "### Every process"
    yield _settings(settings.fields(settings.Shared))
    for schema in schemas():
        own = [field for field in settings.fields(schema) if field.table]
        yield f"### `{schema.role}`"
        yield _settings(own) if own else "None of its own."
    yield "## Words in Kubernetes"
    yield table(
        ("word", "meaning"),
        ((f"`{word}`", word.meaning) for word in names.declared(names.Word)),
    )
    yield "## Metrics"
    yield table(
        ("name", "kind", "labels", "meaning"),
        (
            (f"`{m.name}`", m.kind, ", ".join(f"`{label}`" for label in m.labels), m.meaning)
            for m in sorted(names.declared(names.Metric), key=lambda metric: metric.name)
        ),
    )
    yield "## Traces"
    yield (
        "Spans go to the collector that the setting `traces` names, as OTLP over HTTP; the attributes have"
        " the prefix `nemutator.`, and none holds a secret."
    )
    yield table(
        ("span", "attributes", "meaning"),
        (
            (span.name, ", ".join(f"`{name}`" for name in span.attributes), span.meaning)
            for span in names.declared(names.TracedSpan)
        ),
    )
    yield "## Log keys"
    yield table(
        ("key", "meaning"),
        ((f"`{key}`", key.meaning) for key in sorted(names.declared(names.Key))),
    )
    yield "## Exit codes"
    yield "After a *permanent* one, starting the same again cannot help: `nemutator up` stops trying."
    yield table(
        ("code", "permanent", "meaning"),
        ((str(code.value), "yes" if code in PERMANENT else "", code.meaning) for code in ExitCode),
    )


def render() -> str:
    return "\n\n".join(_parts()) + "\n"


def main() -> int:
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(render())
    return 0


if __name__ == "__main__":
    sys.exit(main())
