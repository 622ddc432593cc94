"""Makes a foreign SVG safe to serve, or refuses it.

The file is read with expat and written anew from what is known to be harmless, so that what is served is exactly what
was looked at. Anything that can run, load or expand is a reason to refuse the whole file: scripts, event attributes,
foreign content, style sheets, links, images, references outside the file, document types and entities, processing
instructions. What editors leave behind (other namespaces, unknown attributes, comments) is dropped.
"""

import re
from typing import NoReturn
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

MAX_SVG = 128 * 1024
_MAX_ELEMENTS = 2_000
_MAX_DEPTH = 32

_SVG = "http://www.w3.org/2000/svg"
_XLINK = "http://www.w3.org/1999/xlink"
_XHTML = "http://www.w3.org/1999/xhtml"

_ELEMENT_NAMES = (
    "svg g defs title desc path rect circle ellipse line polyline polygon text tspan "
    "linearGradient radialGradient stop clipPath mask"
)
_ATTRIBUTE_NAMES = (
    "id class viewBox width height x y x1 y1 x2 y2 cx cy r rx ry fx fy dx dy d points transform version role "
    "preserveAspectRatio fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin "
    "stroke-miterlimit stroke-dasharray stroke-dashoffset opacity color display visibility clip-path clip-rule mask "
    "offset stop-color stop-opacity gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits "
    "maskContentUnits font-family font-size font-weight font-style text-anchor dominant-baseline letter-spacing "
    "textLength lengthAdjust paint-order shape-rendering aria-label aria-hidden"
)
_ELEMENTS = frozenset(_ELEMENT_NAMES.split())
_ATTRIBUTES = frozenset(_ATTRIBUTE_NAMES.split())
_LOADS = re.compile(r"url\s*\(\s*(?!['\"]?#)|image-set|expression|@import|javascript:|data:|\\", re.IGNORECASE)
_STYLE_PROPERTY = re.compile(r"\s*([a-z-]+)\s*:\s*([^;{}<>]*)\s*$")


class UnsafeSvgError(ValueError):
    """The file is no SVG that can be served."""


def sanitise_svg(data: bytes) -> bytes:
    if len(data) > MAX_SVG:
        raise UnsafeSvgError("the file is too large")
    return _Cleaner().clean(data)


class _Cleaner:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._open: list[str] = []
        self._elements = 0
        self._dropped = 0  # depth inside an element of another namespace

    def clean(self, data: bytes) -> bytes:
        # A fixed encoding and a separator that no name can hold leave the file no say in either.
        parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = lambda *_: _refuse("a document type")
        parser.EntityDeclHandler = lambda *_: _refuse("an entity")
        parser.SkippedEntityHandler = lambda *_: _refuse("an entity")
        parser.ExternalEntityRefHandler = lambda *_: _refuse("an entity")
        parser.ProcessingInstructionHandler = lambda *_: _refuse("a processing instruction")
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            raise UnsafeSvgError(f"not well-formed: {error}") from None
        return ("".join(self._parts) + "\n").encode()

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > _MAX_ELEMENTS or len(self._open) + self._dropped >= _MAX_DEPTH:
            _refuse("more elements than a logo has")
        namespace, _, local = name.rpartition(" ")
        if namespace == _XHTML or local.lower() in ("script", "foreignobject", "handler", "listener"):
            _refuse(f"<{local}>")
        kept = _safe_attributes(attributes)
        if self._dropped or (self._open and (namespace != _SVG or local == "metadata")):
            self._dropped += 1
            return
        if namespace != _SVG or local not in _ELEMENTS or (local == "svg") == bool(self._open):
            _refuse(f"<{local}>")
        self._open.append(local)
        declared = "" if len(self._open) > 1 else f' xmlns="{_SVG}"'
        written = "".join(f" {key}={quoteattr(value)}" for key, value in kept.items())
        self._parts.append(f"<{local}{declared}{written}>")

    def _end(self, _: str) -> None:
        if self._dropped:
            self._dropped -= 1
        else:
            self._parts.append(f"</{self._open.pop()}>")

    def _text(self, text: str) -> None:
        if self._open and not self._dropped:
            self._parts.append(escape(text))


def _safe_attributes(attributes: dict[str, str]) -> dict[str, str]:
    """What is kept of them. Refuses what could run or load something even where the attribute would be dropped."""
    kept: dict[str, str] = {}
    styles: dict[str, str] = {}
    for name, value in attributes.items():
        namespace, _, local = name.rpartition(" ")
        if local.lower().startswith("on"):
            _refuse(f"the event attribute {local}")
        if local == "href" and namespace in ("", _XLINK):
            if not re.fullmatch(r"#[\w.-]+", value):
                _refuse("a reference to outside of the file")
            kept["href"] = value
            continue
        if _LOADS.search(value):
            _refuse(f"something to be loaded in {local}")
        if local == "style" and not namespace:
            styles = _styles(value)
        elif local in _ATTRIBUTES and not namespace:
            kept[local] = value
    return kept | styles


def _styles(value: str) -> dict[str, str]:
    """Inline styles become the attributes that mean the same: a strict content policy ignores inline styles."""
    matches = (_STYLE_PROPERTY.match(declaration) for declaration in value.split(";"))
    return {match[1]: match[2].strip() for match in matches if match and match[1] in _ATTRIBUTES}


def _refuse(what: str) -> NoReturn:
    raise UnsafeSvgError(f"the file has {what}")
