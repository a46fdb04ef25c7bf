from dataclasses import replace

from nemutator_controller.ageing.model import FunctionFinding
from nemutator_controller.ageing.sentences import MB, place, rate, sentence

from tests.controller.ageing.test_findings import finding


def test_a_leak_is_told_in_one_sentence() -> None:
    assert sentence(finding()) == (
        "shop: leak (provisional): heap grows since its start, 5.0 MB/min in main.remember, main.go:84"
    )
    firm = replace(finding(), state="firm", sites=(), rate_per_min=4_000)
    assert sentence(firm) == "shop: leak: heap grows from day to day, 5.8 MB/day"


def test_the_memory_of_a_process_does_not_lend_a_line_its_rate() -> None:
    # Go lets a heap grow to twice what is alive, so the memory grows faster than the line leaks.
    told = sentence(replace(finding(), measure="memory", rate_per_min=9.3 * MB))
    assert told == (
        "shop: leak (provisional): memory grows since its start, 9.3 MB/min,"
        " 5.0 MB/min of it in main.remember, main.go:84"
    )


def test_other_verdicts_have_theirs() -> None:
    assert sentence(finding(grows_by=0)) == "shop: steady: no rise to speak of since its start"
    drift = replace(finding(), verdict="drift", measure="goroutines", rate_per_min=12, sites=())
    assert rate(drift) == "12 a minute"
    spot = FunctionFinding(
        id="f",
        function="main.parse",
        file="p.go",
        line=3,
        share_before=0.1,
        share_now=0.2,
        p=0.0,
    )
    hot = replace(finding(), verdict="hot spot grew", functions=(spot,))
    assert sentence(hot) == "shop: hot spot grew: main.parse from 10.0 to 20.0 % of CPU time"


def test_a_site_without_a_file_has_no_line() -> None:
    (site,) = finding().sites
    assert place(site) == "main.go:84"
    assert place(replace(site, file="")) == "no file"
