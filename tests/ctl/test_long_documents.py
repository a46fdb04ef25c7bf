from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.documents import Output, rendered
from nemutator_ctl.long_documents import rendered_in_parts

texts = st.text(max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(["apiVersion", "kind", "now"]), values, min_size=1),
    st.lists(values, max_size=4),
    st.sampled_from([Output.JSON, Output.YAML]),
)
def test_a_document_in_parts_is_the_whole_document(
    head: dict[str, Any], items: list[Any], output: Output
) -> None:
    parts = rendered_in_parts(head, "nodes", items, output)
    assert "".join(parts) == rendered({**head, "nodes": items}, output)
