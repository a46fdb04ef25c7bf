import asyncio
from urllib.parse import urlsplit

import pytest
from nemutator_controller.prometheus_answers import PrometheusUnavailableError
from nemutator_ctl.advise.prometheus_client import PrometheusClient

DEADLINE_S = 0.2


async def from_server(sent: bytes, *, forever: bytes = b"") -> list[float]:
    """The values of what is read of one that sends *sent*, and then *forever* without end."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent)
        try:
            while forever:
                writer.write(forever)
                await writer.drain()
                await asyncio.sleep(0)
        except OSError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        deadline_s = DEADLINE_S if forever else 30.0
        client = PrometheusClient(urlsplit(f"http://127.0.0.1:{port}"), timeout_s=deadline_s)
        # It blocks, as in a command.
        found = await asyncio.to_thread(lambda: asyncio.run(client.query("up")))
        return [float(one.values[0]) for one in found.series]


@pytest.mark.parametrize("sent", [b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: "])
async def test_who_sends_a_byte_now_and_then_is_not_waited_for(sent: bytes) -> None:
    with pytest.raises(PrometheusUnavailableError, match=r"not answered within 0\.2 s"):
        await from_server(sent, forever=b" ")


async def test_what_was_answered_in_time_is_taken() -> None:
    text = b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]}}'
    assert await from_server(b"HTTP/1.1 200 OK\r\n\r\n" + text) == [2.0]
