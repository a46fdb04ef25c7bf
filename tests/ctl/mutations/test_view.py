from dataclasses import replace
from typing import Any

import msgspec
import pytest
from nemutator_common.errors import OperatorError
from nemutator_controller.journal import documents
from nemutator_controller.journal.records import EditOutcome, JournalEntry, Reversal
from nemutator_ctl.mutations.view import decode, details, overview

from tests.fakes.decisions import NOW, POD, decision

ENTRY = JournalEntry(decision=decision(warnings=("mind",)), state="answered", writer="a")
REVERSAL = Reversal(
    id="v",
    decision="d1",
    at=NOW,
    state="partly",
    outcomes=(EditOutcome(path="x", live=(), result="left"),),
)


def sent(document: object) -> Any:
    """As it comes from the brain."""
    return msgspec.json.decode(msgspec.json.encode(document))


def test_mutations_are_listed() -> None:
    unnamed = replace(POD, name="", generate_name="web-")
    later = decision(2, mode="preview", subject=unnamed)
    preview = JournalEntry(decision=later, state="answered", writer="a")
    shown = overview(decode(sent(documents.listed([ENTRY, preview]))))
    head, first, second = shown.splitlines()
    assert head.split() == ["ID", "WHEN", "OBJECT", "STATE", "FIELDS", "POLICIES"]
    assert first.split()[:1] + first.split()[3:] == [
        *("d1", "Pod", "team/web-1", "answered", "3", "defaults"),
    ]
    assert " preview " in second
    assert "Pod team/web-…" in second
    unit = replace(POD, kind="SystemdUnit", namespace="", name="shop.service")
    outside = JournalEntry(decision=decision(3, subject=unit), state="observed", writer="a")
    listed = overview(decode(sent(documents.listed([outside]))))
    assert "SystemdUnit shop.service" in listed
    assert overview(()) == "Nothing has been changed yet.\n"
    assert overview((), namespace="a\x1b") == "No mutation in namespace a\\x1b is recorded.\n"


def test_one_is_shown_with_its_fields_and_its_tries() -> None:
    shown = details(sent(documents.shown(ENTRY, [REVERSAL])))
    assert shown.startswith("d1  Pod team/web-1  2025-10-09 08:53:21Z  answered\n")
    assert "warning: mind\n" in shown
    assert "2025-10-09 08:53:20Z: rollback: partly\n" in shown
    assert '  + metadata.labels[team]: "blue"\n      by defaults\n' in shown


@pytest.mark.parametrize("field", ["id", "at", "subject", "edits", "mode", "state", "warnings"])
def test_what_is_no_mutation_is_not_understood(field: str) -> None:
    bad = sent(documents.shown(ENTRY, []))
    del bad[field]
    with pytest.raises(OperatorError, match="not a mutation"):
        details(bad)
    with pytest.raises(OperatorError, match="not a list of mutations"):
        decode({"items": [bad]})


@pytest.mark.parametrize("bad", [{"at": 1e300}, {"at": "x"}, {"edits": 3}, {"subject": []}])
def test_strange_values_are_not_understood_either(bad: dict[str, object]) -> None:
    with pytest.raises(OperatorError):
        details({**sent(documents.shown(ENTRY, [])), **bad})
