"""The verb `dnsConfig`: options of a pod's resolver, such as `ndots`."""

from collections.abc import Iterator, Mapping
from typing import Annotated

import msgspec

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import ItemStep, field_path

VERB = "dnsConfig"

MOST = 16

_OPTIONS = field_path(VERB, "options")

OptionName = Annotated[str, msgspec.Meta(min_length=1, max_length=63)]
OptionValue = Annotated[str, msgspec.Meta(max_length=253)]
Options = Annotated[Mapping[OptionName, OptionValue], msgspec.Meta(max_length=MOST)]


class ResolverOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Values by name; an empty one is written as none."""

    set: Options = {}
    add: Options = {}
    """Where the pod does not have that option."""


class DnsConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    options: ResolverOptions = ResolverOptions()


def apply(draft: Draft, wanted: DnsConfig, *, policy: str) -> None:
    author = Author(VERB, policy)
    for name, value in {**wanted.options.add, **wanted.options.set}.items():
        path = _OPTIONS / ItemStep("name", name)
        if name in wanted.options.set or not draft.value(path):
            draft.set(path, {"name": name} | ({"value": value} if value else {}), author)


def faults(wanted: DnsConfig) -> Iterator[str]:
    if not wanted.options.set and not wanted.options.add:
        yield "options: name at least one in set or add"
