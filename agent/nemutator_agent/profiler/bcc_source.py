"""The source of a sampling program as bcc takes it: one text, for one session.

It is that of bpf/nemutator_bpf, rewritten where bcc differs from libbpf: bcc finds maps by a macro of
its own and calls them by methods, inlines all functions, and knows no constants that are set later.
"""

import re
from collections.abc import Mapping

from nemutator_agent.profiler import bpf_maps

KERNEL = "kernel.h"
KERNEL_BY_HEADERS = "compiled_on_the_node.h"

_TYPES = {
    "BPF_MAP_TYPE_HASH": "hash",
    "BPF_MAP_TYPE_ARRAY": "array",
    "BPF_MAP_TYPE_PERCPU_ARRAY": "percpu_array",
}
_UPDATES = {"BPF_ANY": "update", "BPF_NOEXIST": "insert"}
_WISH_FIELDS = ("wanted", "seed", "selection", "controller", "deepest", "threads")

_INCLUDE = re.compile(r'^#include "([\w.]+)"$', re.MULTILINE)
_MAP = re.compile(
    r"^struct \{\s+MAP_NUMBER\(type, (\w+)\);\s+MAP_TYPE\(key, ([\w ]+)\);"
    r"\s+MAP_TYPE\(value, ([\w ]+)\);\s+MAP_NUMBER\(max_entries, (\d+)\);\s+"
    r'\} (\w+) SEC\("\.maps"\);',
    re.MULTILINE,
)
_READ = re.compile(r"bpf_map_(lookup|delete)_elem\(&(\w+), ")
_UPDATE = re.compile(r"bpf_map_update_elem\(&(\w+), ([^;{}]+?), (BPF_ANY|BPF_NOEXIST)\)")
_WISH = re.compile(
    r"^const volatile (struct wish \{.*?^\}) wish = \{[^;]*\};", re.MULTILINE | re.DOTALL
)
_OWN_FUNCTION = re.compile(r"^__attribute__\(\(noinline\)\) ", re.MULTILINE)
_SECTION = re.compile(r'^SEC\("\w+"\)\n', re.MULTILINE)
_LICENSE = re.compile(r'^const char LICENSE\[\] SEC\("license"\) = "GPL";$', re.MULTILINE)


def source(
    files: Mapping[str, str], program: str, *, wish: bytes, entries: Mapping[str, int]
) -> str:
    """The text of *program* out of *files* of C, with the constants *wish* and maps of *entries*.

    Raises ValueError where something of the source is not rewritten: what bcc would make of it is not
    known.
    """
    text = _joined(files, f"{program}.bpf.c", seen=set())

    def define(found: re.Match[str]) -> str:
        kind, key, value, most, name = found.groups()
        return (
            f'BPF_TABLE("{_TYPES[kind]}", {key}, {value}, {name}, {entries.get(name, int(most))});'
        )

    text = _MAP.sub(define, text)
    text = _UPDATE.sub(lambda found: f"{found[1]}.{_UPDATES[found[3]]}({found[2]})", text)
    text = _READ.sub(r"\2.\1(", text)
    text = _WISH.sub(
        lambda found: f"{found[1]};\n\nstatic const struct wish wish = {_values(wish)};", text
    )
    text = _OWN_FUNCTION.sub("INLINE ", text)
    text = _SECTION.sub("", text)
    text = _LICENSE.sub("", text)
    if left := re.search(r"SEC\(|MAP_NUMBER|bpf_map_\w+|const volatile|noinline", text):
        raise ValueError(f"{program}: {left[0]} is not rewritten for bcc")
    return text


def _joined(files: Mapping[str, str], name: str, *, seen: set[str]) -> str:
    """The file, with each that it includes in the place where it is included first."""

    def include(found: re.Match[str]) -> str:
        other = KERNEL_BY_HEADERS if found[1] == KERNEL else found[1]
        if other in seen:
            return ""
        seen.add(other)
        return _joined(files, other, seen=seen)

    return _INCLUDE.sub(include, files[name])


def _values(wish: bytes) -> str:
    values = zip(_WISH_FIELDS, bpf_maps.WISH.unpack(wish), strict=True)
    return "{" + ", ".join(f".{name} = {value}ULL" for name, value in values) + "}"
