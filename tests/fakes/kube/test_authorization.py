"""Who may do what: 401, 403 in the server's own words, and the two reviews."""

import ssl

import aiohttp

from tests.fakes.kube.conversation import Conversation, Json, pod
from tests.fakes.kube.server import FakeKube

PODS = "/api/v1/namespaces/default/pods"
BRAIN = "system:serviceaccount:nemutator:brain"


async def test_an_unknown_token_is_401_and_none_is_anonymous(kube: FakeKube) -> None:
    async with Conversation(kube, token="guessed") as api:
        code, status = await api.ask("GET", PODS)
        assert (code, status["reason"], status["message"]) == (401, "Unauthorized", "Unauthorized")
    async with Conversation(kube, token="") as api:
        code, status = await api.ask("GET", PODS)
        assert (code, status["reason"]) == (403, "Forbidden")
        assert 'User "system:anonymous" cannot list' in status["message"]


async def test_a_refusal_names_user_verb_resource_and_place(kube: FakeKube) -> None:
    token = kube.access.add_token(BRAIN)
    kube.access.allow(BRAIN, "get list watch", "pods", namespace="default")
    async with Conversation(kube, token=token) as api:
        assert (await api.ask("GET", PODS))[0] == 200
        code, status = await api.ask("GET", "/api/v1/pods")
        assert (code, status["details"]) == (403, {"kind": "pods"})
        assert status["message"] == (
            f'pods is forbidden: User "{BRAIN}" cannot list resource "pods" in API group "" at the'
            " cluster scope"
        )
        _, status = await api.ask("DELETE", f"{PODS}/a")
        assert status["message"] == (
            f'pods "a" is forbidden: User "{BRAIN}" cannot delete resource "pods" in API group ""'
            ' in the namespace "default"'
        )
        _, status = await api.ask("POST", f"{PODS}/a/eviction", {})
        assert 'cannot create resource "pods/eviction"' in status["message"]


async def test_a_removed_token_is_refused_at_once(kube: FakeKube) -> None:
    token = kube.access.add_token(BRAIN, "system:masters")
    async with Conversation(kube, token=token) as api:
        assert (await api.ask("GET", PODS))[0] == 200
        kube.access.remove_token(token)
        assert (await api.ask("GET", PODS))[0] == 401


async def test_a_client_certificate_names_its_user(kube: FakeKube) -> None:
    context = ssl.create_default_context(cafile=str(kube.ca_file))
    context.load_cert_chain(*kube.client_files("operator", "system:masters"))
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session,
        session.get(f"{kube.url}{PODS}") as response,
    ):
        assert response.status == 200


async def test_token_reviews(kube: FakeKube, api: Conversation) -> None:
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    token = kube.access.add_token(BRAIN, audiences=("nemutator", "vault"))
    good = await api.create(path, {"spec": {"token": token, "audiences": ["nemutator", "other"]}})
    assert good["status"]["authenticated"] is True
    assert good["status"]["user"]["username"] == BRAIN
    assert good["status"]["audiences"] == ["nemutator"]
    for_nobody_here = await api.create(path, {"spec": {"token": token}})
    assert "authenticated" not in for_nobody_here["status"]
    async with Conversation(kube, token=token) as stranger:
        assert (await stranger.ask("GET", PODS))[0] == 401
    bad = await api.create(path, {"spec": {"token": "guessed"}})
    assert "authenticated" not in bad["status"]
    assert bad["status"]["error"]


async def test_subject_access_reviews_answer_from_the_same_rules(
    kube: FakeKube, api: Conversation
) -> None:
    kube.access.allow(BRAIN, "update", "deployments", group="apps", namespace="team")

    async def allowed(namespace: str) -> bool:
        asked: Json = {"verb": "update", "group": "apps", "resource": "deployments"}
        spec = {"user": BRAIN, "resourceAttributes": {**asked, "namespace": namespace}}
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        status: Json = (await api.create(path, {"spec": spec}))["status"]
        return bool(status["allowed"])

    assert await allowed("team")
    assert not await allowed("default")


async def test_reviews_are_never_stored_or_listed(api: Conversation) -> None:
    code, status = await api.ask("GET", "/apis/authentication.k8s.io/v1/tokenreviews")
    assert (code, status["reason"]) == (405, "MethodNotAllowed")


async def test_requests_are_counted_by_verb_and_resource(kube: FakeKube, api: Conversation) -> None:
    await api.create(PODS, pod("a"))
    await api.get(PODS)
    async with api.watch(PODS):
        assert kube.controls.requests == {"create pods": 1, "list pods": 1, "watch pods": 1}
