"""A finding in one sentence, for an Event, a log and a list."""

from nemutator_controller.ageing.model import AgeingFinding, SiteFinding

MB = 1e6


def sentence(finding: AgeingFinding) -> str:
    """Like `shop: leak (provisional): heap grows since its start, 4.9 MB/min in main.remember, main.go:84`."""
    name = finding.workload.program
    if finding.verdict == "hot spot grew" and finding.functions:
        most = finding.functions[0]
        before, now = 100 * most.share_before, 100 * most.share_now
        return (
            f"{name}: hot spot grew: {most.function} from {before:.1f} to {now:.1f} % of CPU time"
        )
    head: str = finding.verdict
    if finding.grows and finding.state == "provisional":
        head += " (provisional)"
    if not finding.grows:
        return f"{name}: {head}: {finding.reason}"
    since = "since its start" if finding.state == "provisional" else "from day to day"
    return f"{name}: {head}: {finding.measure} grows {since}, {rate(finding)}{_where(finding)}"


def rate(finding: AgeingFinding) -> str:
    if finding.measure in ("heap", "memory"):
        return _per_minute(finding.rate_per_min)
    if finding.measure == "cpu":
        return ""
    return f"{finding.rate_per_min:.2g} a minute"


def _per_minute(bytes_per_min: float) -> str:
    megabytes = bytes_per_min / MB
    if abs(megabytes) >= 0.1:
        return f"{megabytes:.1f} MB/min"
    return f"{megabytes * 60 * 24:.1f} MB/day"


def _where(finding: AgeingFinding) -> str:
    first = next(iter(finding.sites), None)
    if first is None or not first.function:
        goroutines = finding.goroutines_per_min
        return f", with {goroutines:.0f} more goroutines a minute" if goroutines else ""
    where = f"in {first.function}, {place(first)}"
    if finding.measure == "heap":
        return f" {where}"
    # The memory of a process is more than its heap: a line has a rate of its own.
    return f", {_per_minute(first.rate_bytes_per_min)} of it {where}"


def place(site: SiteFinding) -> str:
    """File and line, the file without its folders."""
    return f"{site.file.rpartition('/')[2]}:{site.line}" if site.file else "no file"
