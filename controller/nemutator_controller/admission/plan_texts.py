"""The plan of a shape as text: in records and patches of other pods of that shape stand other names of containers and other
amounts, and all else is the same bytes."""

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from nemutator_controller.admission.answer_templates import ID, EncodedAround, encoded_around
from nemutator_controller.admission.container_amounts import AmountPlaces, WrittenAmount
from nemutator_controller.admission.container_names import ContainerNames, NamePlaces
from nemutator_controller.admission.known_plans import KnownPlan
from nemutator_controller.kube.patch_texts import patch_text
from nemutator_controller.mutations.resource_bounds import ResourceBounds
from nemutator_controller.mutations.stamps import LONGEST, of_any_length

_MARK = "~another text {}~"
_MARKED = re.compile(rb"~another text ([0-9]+)~")
_COPIED = (b',"resources":"%b"', b',\\"resources\\":\\"%b\\"')
"""Around the mark of what our init container asks for, in JSON and in a text within JSON."""

_PLAIN = re.compile("[ !#-%'-;=?-\\[\\]-~]*")
"""Texts that stand as they are in JSON, and in a text within JSON, as an API server writes it."""


class PlanText:
    """Of one pod."""

    __slots__ = ("_around", "_before", "_behind", "edits")

    def __init__(self, edits: bytes, before: bytes, behind: bytes) -> None:
        """*before* the decision's id, and *behind* it: the patch."""
        self.edits = edits
        self._before, self._behind = before, behind
        self._around: EncodedAround | None = None

    def encode_around(self) -> None:
        """It is asked for again: what is the same each time is encoded once."""
        if self._around is None:
            self._around = encoded_around(self._before, self._behind)

    def encoded_patch(self, decision: str) -> bytes:
        id_ = decision.encode()
        if self._around is not None and len(id_) == len(ID):
            return self._around.with_(id_)
        return b64encode(self._before + id_ + self._behind)


class _Text(NamedTuple):
    """One in which others are to stand."""

    format: bytes
    size: int
    """Without these."""
    places: tuple[int, ...]

    def size_with(self, texts: Sequence[bytes]) -> int:
        return self.size + sum([len(texts[at]) for at in self.places])

    def with_(self, texts: Sequence[bytes]) -> bytes:
        return self.format % tuple([texts[at] for at in self.places])


class PlanTexts:
    """Those of pods that differ in nothing else."""

    __slots__ = ("_before", "_behind", "_edits", "_stamp", "amounts", "last", "written")

    def __init__(
        self, known: KnownPlan, names: ContainerNames, amounts: AmountPlaces | None
    ) -> None:
        """*names*: of the containers of a pod that has got what is *known*; empty: they are always the same. *amounts*: what
        depends on what they ask for; None: that is always the same."""
        self.last: tuple[object, ResourceBounds, PlanText] | None = None
        """By names and amounts, and by bounds: pods of one revision are often alike, and so are those of two."""
        self.written: (
            tuple[object, ResourceBounds, Sequence[WrittenAmount], Mapping[str, Any]] | None
        ) = None
        """What was written and copied for the last amounts, within these bounds."""
        edits, operations = list(known.planned.edits), list(known.operations)
        self.amounts = amounts
        marks = len(names) + (0 if amounts is None else amounts.marks)
        each_mark = map(_MARK.format, range(marks))
        places = NamePlaces(edits, operations, names)
        places.rename(edits, operations, tuple([next(each_mark) for _ in names]))
        if amounts is not None:
            amounts.mark(edits, operations, each_mark)
        stamp = of_any_length(ID, edits)
        marked = KnownPlan(known.planned, tuple(operations), known.stamp_at)
        patch = patch_text(marked.operations_for(stamp.decode()))
        before, _, behind = patch.partition(ID.encode())
        last = -1 if amounts is None else marks - 1
        self._edits, self._stamp, self._before, self._behind = (
            _marked(each, last) for each in (msgspec.json.encode(edits), stamp, before, behind)
        )

    def of(
        self,
        names: ContainerNames,
        written: Sequence[WrittenAmount],
        copied: Mapping[str, Any],
    ) -> PlanText | None:
        """That of a pod whose containers are called so, with what is *written* and *copied* for what they ask for; None: it
        cannot stand there as it is, or there is no room for it in a stamp."""
        texts = list(names)
        for before, after, author in written:
            texts += (before[0] if before else "", after[0], author.reason)
        asked = msgspec.json.encode(copied).decode() if copied else ""
        if not _PLAIN.fullmatch("".join(texts)) or not _PLAIN.fullmatch(asked.replace('"', "")):
            return None
        if self.amounts is not None:
            field = f',"resources":{asked}' if asked else ""
            texts += (field, field.replace('"', '\\"'))
        values = [text.encode() for text in texts]
        if self._stamp.size_with(values) > LONGEST:
            return None
        return PlanText(*[each.with_(values) for each in (self._edits, self._before, self._behind)])


def _marked(text: bytes, last: int) -> _Text:
    """*last*: the mark in the place of what our init container asks for; there is another place behind it for that within a
    text."""
    if last >= 0:
        mark = _MARK.format(last).encode()
        text = text.replace(_COPIED[0] % mark, mark)
        text = text.replace(_COPIED[1] % mark, _MARK.format(last + 1).encode())
    pieces = _MARKED.split(text)
    fixed, places = pieces[::2], tuple(map(int, pieces[1::2]))
    format_ = b"%b".join([piece.replace(b"%", b"%%") for piece in fixed])
    return _Text(format_, sum(map(len, fixed)), places)
