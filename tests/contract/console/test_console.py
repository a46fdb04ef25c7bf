"""The console as a browser meets it, on a real port."""

from pathlib import Path
from urllib.parse import urlsplit

from tests.fakes.brains import StandingBrain, standing_brain


def origin(link: str) -> str:
    return "{0.scheme}://{0.netloc}".format(urlsplit(link))


async def signed_in(brain: StandingBrain) -> tuple[str, dict[str, str]]:
    """The console's origin, and the headers of a browser that opened a link."""
    link = await brain.link()
    async with brain.browser.get(link, allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        [cookie] = answer.cookies.values()
        assert cookie["httponly"]
        assert cookie["samesite"] == "Strict"
        assert cookie.key == f"nemutator-{urlsplit(link).port}"
        return origin(link), {"Cookie": f"{cookie.key}={cookie.value}"}


async def test_a_link_opens_the_page_once(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        link = await brain.link()
        async with brain.browser.get(link, allow_redirects=False) as answer:
            assert answer.status == 303
        async with brain.browser.get(link, allow_redirects=False) as answer:
            assert answer.status == 403
            assert not answer.cookies
            text = await answer.text()
            assert "nemutator link" in text
            assert 'href="/style.css"' in text
        async with brain.browser.get(f"{origin(link)}/style.css") as answer:
            assert (answer.status, answer.content_type) == (200, "text/css")


async def test_a_used_link_leads_a_browser_that_is_signed_in_to_the_page(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        url, session = await signed_in(brain)
        for key in ("used", ""):
            link = f"{url}/open?key={key}"
            async with brain.browser.get(link, headers=session, allow_redirects=False) as answer:
                assert (answer.status, answer.headers["Location"]) == (303, "/")
                assert not answer.cookies


async def test_a_session_sees_the_page_its_files_and_the_api(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        url, session = await signed_in(brain)
        for path, kind in {
            "/": "text/html",
            "/app.js": "text/javascript",
            "/style.css": "text/css",
            "/icon.svg": "image/svg+xml",
            "/api/v1/topology": "application/json",
        }.items():
            async with brain.browser.get(url + path, headers=session) as answer:
                assert (answer.status, answer.content_type) == (200, kind), path
                assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert answer.headers["Referrer-Policy"] == "no-referrer"
                cached = "no-store" if path.startswith("/api/") else "no-cache"
                assert answer.headers["Cache-Control"] == cached


async def test_a_known_file_is_not_sent_again(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        url, session = await signed_in(brain)
        async with brain.browser.get(f"{url}/app.js", headers=session) as answer:
            known = {"If-None-Match": answer.headers["ETag"]}
        async with brain.browser.get(f"{url}/app.js", headers=session | known) as answer:
            assert answer.status == 304


async def test_nobody_without_a_session_sees_anything(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        url, session = await signed_in(brain)
        name = session["Cookie"].partition("=")[0]
        for headers in ({}, {"Cookie": f"{name}=wrong"}, {"Cookie": "other=1"}):
            for path in ("/", "/app.js", "/index.html", "/nothing", "/metrics", "/readyz"):
                async with brain.browser.get(url + path, headers=headers) as answer:
                    assert answer.status == 401, path
                    assert "nemutator link" in await answer.text()
                    assert "Content-Security-Policy" in answer.headers
            async with brain.browser.get(f"{url}/api/v1/topology", headers=headers) as answer:
                assert answer.status == 401
                assert (await answer.json())["remedy"]
        async with brain.browser.get(f"{url}/healthz") as answer:
            assert answer.status == 200


async def test_another_sites_name_for_this_machine_opens_nothing(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        url, session = await signed_in(brain)
        for host in ("evil.example", f"evil.example:{urlsplit(url).port}", "127.0.0.1", ""):
            headers = session | {"Host": host}
            async with brain.browser.get(f"{url}/api/v1/topology", headers=headers) as answer:
                assert answer.status in {400, 403}, host
        headers = session | {"Host": f"localhost:{urlsplit(url).port}"}
        async with brain.browser.get(f"{url}/api/v1/topology", headers=headers) as answer:
            assert answer.status == 200


async def test_a_session_cannot_make_links_or_post_reports(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        url, session = await signed_in(brain)
        for path in ("/api/v1/console-links", "/uplink/v1/reports"):
            async with brain.browser.post(url + path, headers=session) as answer:
                assert answer.status == 404
                assert "Content-Security-Policy" in answer.headers
        foreign = session | {"Origin": "http://evil.example"}
        async with brain.browser.post(f"{url}/", headers=foreign) as answer:
            assert answer.status == 403


async def test_no_path_leaves_the_pages_folder(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        url, session = await signed_in(brain)
        for path in ("/../api.py", "/%2e%2e/api.py", "//etc/passwd", "/static/app.js", "/app.js/"):
            async with brain.browser.get(url + path, headers=session) as answer:
                assert answer.status == 404, path


async def test_a_prefetch_does_not_use_up_a_link(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        link = await brain.link()
        async with brain.browser.get(link, headers={"Sec-Purpose": "prefetch"}) as answer:
            assert answer.status == 503
        async with brain.browser.get(link, allow_redirects=False) as answer:
            assert answer.status == 303


async def test_a_session_survives_a_restart_of_the_brain(tmp_path: Path) -> None:
    async with standing_brain(tmp_path / "data") as brain:
        _, session = await signed_in(brain)
        value = session["Cookie"].partition("=")[2]
    async with standing_brain(tmp_path / "data") as brain:
        url = origin(await brain.link())
        again = {"Cookie": f"nemutator-{urlsplit(url).port}={value}"}
        async with brain.browser.get(f"{url}/api/v1/topology", headers=again) as answer:
            assert answer.status == 200
