"""Finished profiles, sent to what decodes them as Pyroscope and Parca do."""

import logging
import ssl
from dataclasses import replace
from pathlib import Path

import pytest
from nemutator_common.errors import OperatorError
from nemutator_common.profiles import pprof
from nemutator_common.wire import ProfileMeasure
from nemutator_controller.app.profile_pushes import push_destinations
from nemutator_controller.profiles.push_http import HttpPush
from nemutator_controller.profiles.records import PushRefusedError, PushUnavailableError
from nemutator_controller.settings.brain import BrainSettings

from tests.certificates import Authority
from tests.fakes.process import fake_process
from tests.fakes.profile_stores import FakeProfileStore
from tests.fakes.profiles import POD, content, heap_content, profile

CART = replace(profile(), state="done", pod=POD, owner="shop/cart")


def only(settings: BrainSettings) -> HttpPush:
    [destination] = push_destinations(settings, fake_process())
    return destination


@pytest.mark.parametrize("store", ["pyroscope", "parca"])
@pytest.mark.parametrize("measure", ["cpu", "heap"])
async def test_a_profile_arrives_with_its_labels(store: str, measure: ProfileMeasure) -> None:
    made = content() if measure == "cpu" else heap_content()
    async with FakeProfileStore().serving() as there:
        url = f"{there.url}/"
        destination = only(
            BrainSettings(pyroscope=url) if store == "pyroscope" else BrainSettings(parca=url)
        )
        assert destination.name == store
        await destination.push(replace(CART, measure=measure), made)
    [(labels, sent)] = there.kept
    assert sent == made
    assert labels == {
        "__name__": {"cpu": "process_cpu", "heap": "memory"}[measure],
        "namespace": "shop",
        "node": "n1",
        "pod": "cart-1",
        "service_name": "shop/cart",
        "workload": "shop/cart",
    }
    assert "Authorization" not in there.headers[0]


async def test_both_are_sent_to_where_both_are_named(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret\n")
    async with FakeProfileStore().serving() as there:
        settings = BrainSettings(
            pyroscope=there.url,
            pyroscope_token_file=str(token),
            pyroscope_tenant="team-a",
            parca=there.url,
        )
        for destination in push_destinations(settings, fake_process()):
            await destination.push(CART, content())
    first, second = there.headers
    assert (first["Authorization"], first["X-Scope-OrgID"]) == ("Bearer s3cret", "team-a")
    assert first["Connect-Protocol-Version"] == "1"
    assert "Authorization" not in second
    assert len(there.kept) == 2


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, PushRefusedError),
        (413, PushRefusedError),
        (302, PushRefusedError),
        (401, PushUnavailableError),
        (429, PushUnavailableError),
        (503, PushUnavailableError),
    ],
)
async def test_a_refusal_says_why_without_the_token(
    status: int, error: type[Exception], tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret")
    async with FakeProfileStore(answers=[status]).serving() as there:
        destination = only(BrainSettings(parca=there.url, parca_token_file=str(token)))
        with pytest.raises(error) as failed:
            await destination.push(CART, content())
        assert f"answers {status}: not now" in str(failed.value)
        assert "s3cret" not in str(failed.value)
        assert str(failed.value).isprintable()
        # One that was refused is read again: it may have been replaced.
        token.write_text("fresh")
        await destination.push(CART, content())
    assert there.headers[1]["Authorization"] == (
        "Bearer fresh" if status == 401 else "Bearer s3cret"
    )


async def test_what_is_no_profile_is_refused_by_such_a_store() -> None:
    async with FakeProfileStore().serving() as there:
        broken = pprof.encode(pprof.decode(content()))
        nameless = replace(CART, node="x" * 3000)
        await only(BrainSettings(pyroscope=there.url)).push(nameless, broken)
        assert len(there.kept[0][0]["node"]) < 2048


async def test_a_store_that_is_away_or_has_no_token_may_take_it_later(tmp_path: Path) -> None:
    async with FakeProfileStore().serving() as there:
        url = there.url
        missing = only(BrainSettings(parca=url, parca_token_file=str(tmp_path / "none")))
        with pytest.raises(PushUnavailableError, match="No such file"):
            await missing.push(CART, content())
    with pytest.raises(PushUnavailableError, match="does not answer: Connection refused"):
        await only(BrainSettings(parca=url)).push(CART, content())


async def test_over_tls_it_must_have_a_certificate_of_the_named_authority(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    authority, other = Authority("push"), Authority("other")
    leaf = authority.server("127.0.0.1")
    file, token = tmp_path / "leaf.pem", tmp_path / "token"
    file.write_text(leaf.both)
    token.write_text("s3cret")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(file)
    for known, taken in ((authority, 1), (other, 1)):
        ca = tmp_path / "ca.pem"
        ca.write_text(known.certificate)
        async with FakeProfileStore().serving(tls) as there:
            destination = only(
                BrainSettings(parca=there.url, parca_token_file=str(token), push_ca_file=str(ca))
            )
            if known is authority:
                await destination.push(CART, content())
                assert len(there.kept) == taken
            else:
                with pytest.raises(PushUnavailableError, match="certificate verify failed"):
                    await destination.push(CART, content())
                assert there.headers == []
    assert "s3cret" not in caplog.text


def test_no_token_goes_over_a_network_in_plain_text(tmp_path: Path) -> None:
    for url in ("http://pyroscope:4040", "http://10.0.0.9:4040"):
        with pytest.raises(OperatorError, match="readable by everybody"):
            only(BrainSettings(pyroscope=url, pyroscope_token_file=str(tmp_path / "token")))
    assert only(BrainSettings(pyroscope="http://pyroscope:4040")).account.secret is None
    assert list(push_destinations(BrainSettings(), fake_process())) == []
