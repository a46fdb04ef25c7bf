import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.report.credentials import INSTEAD, without_any_value, without_credentials

SIGNED = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm5hIn0.c2lnbmVk"

FORMS = [
    ("postgresql://nemu:hunter2@db:5432/x is away", f"postgresql://{INSTEAD}@db:5432/x is away"),
    ("rediss://:hunter2@redis", f"rediss://{INSTEAD}@redis"),
    ("via http://anna:hunter2@proxy:3128", f"via http://{INSTEAD}@proxy:3128"),
    ("Authorization: Bearer hunter2-hunter2", f"Authorization: Bearer {INSTEAD}"),
    ("Basic YW5uYTpodW50ZXIy", f"Basic {INSTEAD}"),
    ("token hvs.CAESIJhunter2hunter2", f"token {INSTEAD}"),
    (f"as {SIGNED}", f"as {INSTEAD}"),
    ("key AKIAHUNTER2HUNTER2AB", f"key {INSTEAD}"),
]


@pytest.mark.parametrize(("text", "wanted"), FORMS)
def test_what_has_the_form_of_a_credential_is_taken_out(text: str, wanted: str) -> None:
    assert without_credentials(text) == wanted
    assert json.loads(without_credentials(json.dumps({"name": text}))) == {"name": wanted}


@pytest.mark.parametrize(
    "text",
    [
        'nemutator_http_requests_total{listener="local",status="200"} 3',
        "https://brain:8420/api/v1/nodes",
        "anna@example.com asked for the basic facts",
        "secret/shop/db",
    ],
)
def test_what_has_none_stays_as_it_is(text: str) -> None:
    assert without_credentials(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "the store says password=hunter2 is wrong",
        'the answer was {"client_token": "hunter2"}',
        "VAULT_TOKEN: hunter2",
        "api-key='hunter2'",
        "aws_secret_access_key = hunter2",
    ],
)
def test_in_a_sentence_the_value_behind_its_name_goes_too(text: str) -> None:
    assert "hunter2" not in without_any_value(text)
    assert INSTEAD in without_any_value(text)


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists))
def test_a_document_stays_one(document: object) -> None:
    json.loads(without_credentials(json.dumps(document)))
