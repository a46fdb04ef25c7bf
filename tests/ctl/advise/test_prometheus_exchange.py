import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.prometheus_answers import (
    PrometheusAnswer,
    PrometheusRefusedError,
    PrometheusTooMuchError,
    PrometheusUnavailableError,
)
from nemutator_ctl.advise.prometheus_exchange import at_moment, over_time, understood

NOW = 1_700_000_000.0
MOST = 1_000
NOTHING = b'{"status":"success","data":{"resultType":"vector","result":[]}}'


def test_a_question_has_its_moments_in_seconds() -> None:
    assert at_moment("up", None) == {"query": "up"}
    assert at_moment("up", 1.5) == {"query": "up", "time": "1.500"}
    assert over_time("up", begin=1, end=2, step_s=0.5) == {
        "query": "up",
        "start": "1.000",
        "end": "2.000",
        "step": "0.500",
        "nocache": "1",
    }


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        (400, PrometheusRefusedError),
        (404, PrometheusRefusedError),
        (413, PrometheusTooMuchError),
        (422, PrometheusTooMuchError),
        (429, PrometheusUnavailableError),
        (503, PrometheusUnavailableError),
    ],
)
def test_a_refusal_says_who_and_what(status: int, raised: type[Exception]) -> None:
    with pytest.raises(raised, match=f"there answers {status}: too much"):
        understood("there", status, b"too much", most=MOST, now=NOW)


def test_an_answer_is_read_within_its_bound() -> None:
    assert understood("there", 200, NOTHING, most=MOST, now=NOW).series == []
    with pytest.raises(PrometheusTooMuchError, match="answers more than"):
        understood("there", 200, b" " * (MOST + 1), most=MOST, now=NOW)


@given(st.binary(max_size=200), st.integers(100, 599))
def test_whatever_is_answered_it_is_an_answer_or_a_reason(content: bytes, status: int) -> None:
    said = ""
    try:
        said = str(type(understood("there", status, content, most=MOST, now=NOW)))
    except (PrometheusRefusedError, PrometheusUnavailableError) as error:
        said = str(error)
    assert said == str(PrometheusAnswer) or "there" in said
