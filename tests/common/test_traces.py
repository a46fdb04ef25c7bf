import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_common.traces import NO_TRACER, TraceParent, parent_of

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


@pytest.mark.parametrize(
    ("header", "sampled"),
    [
        (f"00-{TRACE}-{SPAN}-01", True),
        (f"00-{TRACE}-{SPAN}-00", False),
        (f"00-{TRACE}-{SPAN}-03", True),
        # A later version may say more.
        (f"cc-{TRACE}-{SPAN}-01-what-comes", True),
    ],
)
def test_a_parent_is_read_as_the_specification_has_it(header: str, sampled: bool) -> None:
    assert parent_of(header) == TraceParent(TRACE, SPAN, sampled)


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "00",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-01" + "x" * 300,
    ],
)
def test_what_is_no_parent_is_nobody(header: str | None) -> None:
    assert parent_of(header) is None


@settings(max_examples=50)
@given(st.text(max_size=80))
def test_no_text_breaks_it(text: str) -> None:
    parent_of(text)


def test_where_nobody_collects_a_span_says_nothing_and_costs_one_object() -> None:
    with NO_TRACER.span(names.VAULT_SPAN) as first, NO_TRACER.span(names.DECISION_SPAN) as second:
        first.note(operation="read")
    assert first is second
    assert (first.trace, NO_TRACER.collects) == ("", False)
