"""From a reading on the wire to what is kept of it, packed into few bytes."""

import hashlib
import zlib

import msgspec
from nemutator_common.windows import WindowReading

from nemutator_controller.ageing.model import KeptWindow, SiteSeries, WindowSource

KEPT_SITES = 64
KEPT_FUNCTIONS = 64

LARGEST_UNPACKED = 1 << 20

_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(KeptWindow)


def source_of(reading: WindowReading) -> WindowSource:
    process = reading.process
    # The time of its start is computed from the clock, which may be set: to the second it is one.
    text = f"{reading.node}\0{process.pid}\0{round(process.started_at)}\0{process.image}"
    return WindowSource(
        id=hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=8).hexdigest(),
        node=reading.node,
        pid=process.pid,
        started_at=process.started_at,
        program=process.program,
        image=process.image,
        go_version=process.go_version,
        group=process.group,
        pod_uid=process.pod_uid,
        container_id=process.container_id,
    )


def kept(reading: WindowReading) -> KeptWindow:
    """What a verdict needs of *reading*: the sites with most in use, and the busiest functions."""
    heap, cpu, counters = reading.heap, reading.cpu, reading.counters
    return KeptWindow(
        at=reading.at,
        heap_bytes=None
        if heap is None
        else sum(one.in_use_bytes for one in heap.sites) + heap.rest.in_use_bytes,
        collection=None if heap is None else heap.collection,
        rss_bytes=counters.rss_anon_bytes,
        goroutines=counters.goroutines,
        threads=counters.threads,
        open_files=counters.open_files,
        sites=None
        if heap is None
        else {
            one.site: SiteSeries(
                in_use_bytes=one.in_use_bytes,
                in_use_objects=one.in_use_objects,
                allocated_bytes=one.allocated_bytes,
                allocated_objects=one.allocated_objects,
            )
            for one in sorted(heap.sites, key=lambda one: -one.in_use_bytes)[:KEPT_SITES]
        },
        samples=0 if cpu is None else cpu.samples,
        functions=None
        if cpu is None
        else {
            one.function: one.total
            for one in sorted(cpu.functions, key=lambda one: -one.total)[:KEPT_FUNCTIONS]
        },
        missing={one.what: one.why for one in reading.missing} or None,
        allocated_objects=None
        if heap is None
        else sum(one.allocated_objects for one in heap.sites) + heap.rest.allocated_objects,
        cpu_seconds=counters.cpu_seconds,
    )


def packed(window: KeptWindow) -> bytes:
    return zlib.compress(_encoder.encode(window), level=1)


def unpacked(content: bytes) -> KeptWindow:
    """What `packed` made; a ValueError says that it is something else."""
    unzip = zlib.decompressobj()
    try:
        return _decoder.decode(unzip.decompress(content, LARGEST_UNPACKED))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ValueError(f"not a window: {error}") from error
