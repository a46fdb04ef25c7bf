"""Findings for people, and as a document for programs."""

import textwrap
from collections.abc import Iterator, Sequence

from nemutator_common import names

from nemutator_ctl.doctor.checks import State
from nemutator_ctl.doctor.findings import Finding
from nemutator_ctl.tables import Column, table

LAYOUT = (Column("STATE"), Column("CHECK"), Column("FOUND"), Column("NEEDED FOR"))
_INDENT = " " * 10
_WIDTH = 100


def view(findings: Sequence[Finding]) -> str:
    """A line for each finding; below a limit, what is lost by it and the remedy."""
    rows = [(one.state, one.check, one.found, one.purpose) for one in findings]
    title, *lines = table(LAYOUT, rows).splitlines(keepends=True)
    shown = [
        line + "".join(_advice(finding)) for line, finding in zip(lines, findings, strict=True)
    ]
    return "".join([title, *shown, "\n", _summary(findings), "\n"])


def _advice(finding: Finding) -> Iterator[str]:
    for label, text in (("lost", finding.lost), ("remedy", finding.remedy)):
        if text:
            yield (
                textwrap.fill(
                    f"{label}: {text}",
                    width=_WIDTH,
                    initial_indent=_INDENT,
                    subsequent_indent=_INDENT + "  ",
                    break_long_words=False,
                    break_on_hyphens=False,
                )
                + "\n"
            )


def _summary(findings: Sequence[Finding]) -> str:
    missing = [one.check for one in findings if one.state is State.MISSING]
    limited = sum(one.state is State.LIMITED for one in findings)
    if missing:
        return f"nemutator needs what is missing: {', '.join(missing)}."
    if limited:
        return f"nemutator runs here; {limited} of {len(findings)} checks found a limit."
    return "nemutator runs here, without a limit."


def document(findings: Sequence[Finding]) -> dict[str, object]:
    return {
        "apiVersion": names.API_VERSION,
        "kind": "Diagnosis",
        "findings": [
            {
                "check": one.check,
                "state": one.state.value,
                "found": one.found,
                "neededFor": one.purpose,
                "lost": one.lost,
                "remedy": one.remedy,
            }
            for one in findings
        ],
    }
