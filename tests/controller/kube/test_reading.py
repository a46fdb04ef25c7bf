import json

import pytest
from nemutator_controller.kube.failures import UnavailableError
from nemutator_controller.kube.reading import Reader
from nemutator_controller.kube.resources import PODS

from tests.controller.kube.pods import pod, pods
from tests.fakes.scripted_kube import ScriptedTransport


async def test_an_object_comes_as_its_bytes() -> None:
    body = json.dumps(pod("web", 3)).encode()
    reader = Reader(ScriptedTransport(body))
    assert await reader.raw(PODS, "team", "web") == body


async def test_pages_follow_their_tokens() -> None:
    transport = ScriptedTransport(pods(pod("a"), version=3, after="x"), pods(pod("b"), version=3))
    found = [
        manifest.metadata.name
        async for page in Reader(transport).pages(PODS)
        for manifest in page.items
    ]
    assert found == ["a", "b"]
    assert transport.calls[1].query["continue"] == "x"


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"kind":"Status"}'])
async def test_what_cannot_be_read_is_an_error_and_never_empty(body: bytes) -> None:
    with pytest.raises(UnavailableError):
        async for _ in Reader(ScriptedTransport(body)).pages(PODS):
            pass
