"""What is drawn on a canvas: plots have no elements that could be asked."""

from playwright.sync_api import Locator

_COLUMNS = """(plot, name) => {
    const canvas = plot.querySelector("canvas");
    const read = document.createElement("canvas");
    Object.assign(read, { width: canvas.width, height: canvas.height });
    const context = read.getContext("2d", { willReadFrequently: true });
    context.drawImage(canvas, 0, 0);
    const [whole, inner] = [canvas, plot.querySelector(".u-over")].map((one) => one.getBoundingClientRect());
    const scale = canvas.width / whole.width;
    const [left, width] = [(inner.left - whole.left) * scale, inner.width * scale];
    const one = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    one.fillStyle = getComputedStyle(plot).getPropertyValue(name);
    one.fillRect(0, 0, 1, 1);
    const wanted = one.getImageData(0, 0, 1, 1).data;
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    const found = new Set();
    for (let at = 0; at < data.length; at += 4) {
        const far = [0, 1, 2, 3].some((part) => Math.abs(data[at + part] - wanted[part]) > 3);
        const place = (((at / 4) % canvas.width) - left) / width;
        if (!far && place >= 0 && place <= 1) found.add(place);
    }
    return [...found];
}"""


def places(plot: Locator, colour: str) -> list[float]:
    """Where in *plot* something is drawn in the colour that the page calls so: 0 is its first moment, 1 its last."""
    found: list[float] = plot.evaluate(_COLUMNS, colour)
    return sorted(found)
