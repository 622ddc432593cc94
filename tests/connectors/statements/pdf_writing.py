"""Writes PDFs as the printing systems of banks do: words at places, in one of the standard fonts, a page at a time.

`letter_by_letter` places every character on its own, as many printing systems do to justify text.
"""

import zlib
from dataclasses import dataclass

# Widths of Helvetica, in thousandths of its size; what is missing is as wide as a digit.
_WIDTHS = dict.fromkeys("abdeghnopqu0123456789äöü€_", 556) | dict.fromkeys("ckrsvxyz", 500) | dict.fromkeys("ijl", 222)
_WIDTHS |= dict.fromkeys(" ftI.,:/!", 278) | dict.fromkeys("mMW", 833) | dict.fromkeys("ABEKPSVXY", 667)
_WIDTHS |= (
    dict.fromkeys("CDHNRUÜÄ", 722)
    | dict.fromkeys("GOQÖ", 778)
    | {"r": 333, "-": 333, "(": 333, ")": 333, "w": 722, "T": 611, "F": 611, "Z": 611}
)


@dataclass(frozen=True)
class Text:
    """`right` instead of `left` for what ends there, as amounts do."""

    text: str
    height: float
    left: float = 50
    right: float | None = None
    size: float = 9


def measure(text: str, size: float) -> float:
    return sum(_WIDTHS.get(letter, 556) for letter in text) * size / 1000


def write_pdf(*pages: list[Text], letter_by_letter: bool = False, is_compressed: bool = True) -> bytes:
    objects = [b"<</Type/Catalog/Pages 2 0 R>>", b""]
    widths = " ".join(str(_WIDTHS.get(bytes([code]).decode("cp1252", "replace"), 556)) for code in range(32, 256))
    font = (
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding"
        f"/FirstChar 32/LastChar 255/Widths[{widths}]>>"
    )
    objects.append(font.encode())
    kids = []
    for page in pages:
        content = "\n".join(_write(text, letter_by_letter=letter_by_letter) for text in page).encode("cp1252")
        stream = zlib.compress(content) if is_compressed else content
        packed = b"/Filter/FlateDecode" if is_compressed else b""
        objects.append(b"<</Length %d%s>>stream\n%s\nendstream" % (len(stream), packed, stream))
        kids.append(f"{len(objects) + 1} 0 R")
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents {len(objects)} 0 R"
            "/Resources<</Font<</F1 3 0 R>>>>>>".encode()
        )
    objects[1] = f"<</Type/Pages/Kids[{' '.join(kids)}]/Count {len(kids)}>>".encode()
    return _join(objects)


def _write(text: Text, *, letter_by_letter: bool) -> str:
    left = text.left if text.right is None else text.right - measure(text.text, text.size)
    if not letter_by_letter:
        return _place(text.text, left, text)
    placed = []
    for letter in text.text:
        if letter != " ":
            placed.append(_place(letter, left, text))
        left += measure(letter, text.size)
    return "\n".join(placed)


def _place(letters: str, left: float, text: Text) -> str:
    escaped = letters.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /F1 {text.size} Tf 1 0 0 1 {left:.2f} {text.height:.2f} Tm ({escaped}) Tj ET"


def _join(objects: list[bytes]) -> bytes:
    file = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % place for place in places)
    file += b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(file)
