"""Draws the console's icons for installed apps, in the shapes of `icon.svg`: `python scripts/draw_icons.py`."""

from pathlib import Path

from PIL import Image, ImageDraw

STATIC = Path(__file__).parent.parent / "src/kontor/console/static"
BLUE, WHITE = "#1f5fbf", "#ffffff"
STROKES = (((7, 17), (7, 7)), ((7, 12), (13, 7)), ((8, 11), (14, 17)), ((17, 7), (17, 17)))
SMOOTHING = 4
# Name, size, and how much of the picture the sign takes: systems cut maskable icons to a circle of 80 %.
ICONS = (
    ("icon-192.png", 192, 24),
    ("icon-512.png", 512, 24),
    ("icon-maskable.png", 512, 34),
    ("icon-touch.png", 180, 27),
)


def draw_icon(size: int, units: int) -> Image.Image:
    """`units` is the width of the picture in those of the sign's drawing, which is 24 wide."""
    unit = size * SMOOTHING / units
    edge = (units - 24) / 2
    picture = Image.new("RGBA", (size * SMOOTHING, size * SMOOTHING))
    pen = ImageDraw.Draw(picture)
    if edge:
        pen.rectangle((0, 0, size * SMOOTHING, size * SMOOTHING), BLUE)
    else:
        pen.rounded_rectangle((0, 0, size * SMOOTHING - 1, size * SMOOTHING - 1), 6 * unit, BLUE)
    for begin, end in STROKES:
        places = [((x + edge) * unit, (y + edge) * unit) for x, y in (begin, end)]
        pen.line(places, WHITE, round(2 * unit))
        for x, y in places:
            pen.ellipse((x - unit, y - unit, x + unit, y + unit), WHITE)
    return picture.resize((size, size), Image.Resampling.LANCZOS)


if __name__ == "__main__":
    for name, size, units in ICONS:
        draw_icon(size, units).quantize(32).save(STATIC / name, optimize=True)
