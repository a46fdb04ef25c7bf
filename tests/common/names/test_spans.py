import re

from nemutator_common import names


def test_each_span_has_a_name_of_its_own_and_plain_attributes() -> None:
    spans = names.declared(names.TracedSpan)
    assert spans
    assert len({span.name for span in spans}) == len(spans)
    for span in spans:
        assert len(set(span.attributes)) == len(span.attributes)
        assert all(re.fullmatch("[a-z]+", each) for each in (span.name, *span.attributes))
