"""PSI files (Documentation/accounting/psi.rst): `some avg10=0.12 avg60=… avg300=… total=…`."""

import re

from nemutator_common.wire import Pressure

from nemutator_agent.usage.malformed import MalformedError

# Percentages with two decimals; the kernel's fixed point can show a little more than 100.
_LINE = re.compile(rb"(some|full) avg10=([0-9]{1,3}\.[0-9]{2}) avg60=([0-9]{1,3}\.[0-9]{2}) ")

_STALLED = re.compile(rb"^some [^\n]*\btotal=([0-9]{1,19})\b", re.MULTILINE)


def parse_stalled_us(content: bytes) -> int | None:
    """For how long some task has waited since the group was made; None where the file does not say it."""
    found = _STALLED.search(content)
    return None if found is None else int(found[1])


def parse_pressure(content: bytes) -> Pressure:
    """Before Linux 5.13 the CPU's file has no line `full`."""
    averages = {
        kind: (min(float(ten), 100.0), min(float(sixty), 100.0))
        for kind, ten, sixty in _LINE.findall(content)
    }
    if b"some" not in averages:
        raise MalformedError("pressure: expected a line that begins with: some avg10=")
    some_10s, some_60s = averages[b"some"]
    full_10s, full_60s = averages.get(b"full", (None, None))
    return Pressure(some_10s, some_60s, full_10s, full_60s)
