"""XML of statement files as plain dictionaries, without namespaces: `{"Amt": "12.00", "Amt@Ccy": "EUR", …}`.

expat says whether a document is well-formed. Its calls into Python for every tag would cost more than all the rest, so
the text is cut into tags here: in a well-formed document that has no comments, processing instructions and CDATA, a
`<` always begins a tag. Documents that have such are written anew by libxml2 first.

What an XML file can do to its reader is refused: document types and with them entities, before a parser sees them;
encodings nobody uses; depth; texts that do not end.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeAlias
from xml.parsers import expat

from lxml import etree

from kontor.connectors.statements.decoding import BYTE_ORDER_MARKS, check_size, decode_text
from kontor.connectors.statements.results import Limits, StatementError

# A value is a text without blanks around it, or a Tree. Of what comes twice the first counts; what is REPEATED is a
# list of all there are, with their blanks.
Tree: TypeAlias = dict[str, Any]
REPEATED = frozenset(("AddtlRmtInf", "Bal", "Chrgs", "NtryDtls", "Rcrd", "Strd", "TxDtls", "Ustrd"))
PIECE_LENGTH = 64_000
MAX_HEADS = 5_000
EMPTY: Tree = {}
_WORDS = ""  # text of an element that has children too; no element has this name
_BRACKET_IN_ATTRIBUTE = re.compile(rb"=\s*(?:\"[^\"<>]*>|'[^'<>]*>)")
_EMPTY_ELEMENT = re.compile(r"<([^\s<>/]+)([^<>]*)/>")
_NAME = re.compile(r"\S*")
_CURRENCY = re.compile(r"\sCcy\s*=\s*[\"']([^\"']*)")
_ESCAPE = re.compile(r"&(?:#x([0-9a-fA-F]+)|#([0-9]+)|(lt|gt|amp|quot|apos));")
_CHARACTERS = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}
_DECLARATION = re.compile(rb"\s*<\?xml[^>]{0,200}?\?>")
_ENCODING = re.compile(rb"encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_CONTROL_BYTES = bytes(byte for byte in range(32) if byte not in (9, 10, 13))
_CODE_PAGES = {"iso-8859-1": "latin-1", "iso-8859-15": "iso-8859-15", "windows-1252": "cp1252", "latin1": "latin-1"}


def prepare_xml(data: bytes, limits: Limits) -> bytes:
    """The document as UTF-8, whatever it says it is, without document type and control characters."""
    check_size(data, limits)
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in data[:4]
    if is_wide:
        data = decode_text(data).encode("utf-8", "replace")
    elif data.startswith(BYTE_ORDER_MARKS[0][0]):
        data = data[3:]
    declaration = _DECLARATION.match(data)
    encoding = None if declaration is None else _ENCODING.search(declaration[0])
    if declaration is not None:
        data = data[declaration.end() :]
    if encoding is not None and not is_wide:
        data = _decode_as(data, encoding[1].decode("ascii").lower())
    elif not is_wide:
        data = _decode_as(data, "utf-8")
    data = data.translate(None, _CONTROL_BYTES)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise StatementError("A statement has no document type.")
    return data.lstrip()


def _decode_as(data: bytes, encoding: str) -> bytes:
    if encoding in ("utf-8", "utf8", "us-ascii", "ascii"):
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:  # it claims to be UTF-8
            return decode_text(data).encode("utf-8", "replace")
        return data
    if encoding not in _CODE_PAGES:
        raise StatementError(f"The encoding {encoding} is not known.")
    return data.decode(_CODE_PAGES[encoding], "replace").encode("utf-8")


def _make_plain(data: bytes) -> bytes:
    """The same document without comments, processing instructions, CDATA, and `>` in attributes."""
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        strip_cdata=True,
    )
    try:
        return etree.tostring(etree.fromstring(data, parser), encoding="utf-8", xml_declaration=False)
    except etree.XMLSyntaxError as error:
        raise StatementError(f"The XML cannot be read: {error.msg}", line=error.lineno) from error


def _read_pieces(data: bytes) -> Iterator[str]:
    """A well-formed document in pieces that begin with a tag and hold whole tags."""
    if b"<!" in data or b"<?" in data or _BRACKET_IN_ATTRIBUTE.search(data):
        data = _make_plain(data)
    parser = expat.ParserCreate("utf-8")
    start = 0
    while start >= 0:
        end = data.find(b"<", start + PIECE_LENGTH)
        piece = data[start:] if end < 0 else data[start:end]
        try:
            parser.Parse(piece, end < 0)
        except expat.ExpatError as error:
            message = expat.ErrorString(error.code)
            raise StatementError(f"The XML cannot be read: {message}", line=error.lineno) from error
        text = piece.decode("utf-8")
        yield _EMPTY_ELEMENT.sub(r"<\1\2></\1>", text) if "/>" in text else text
        start = end


class _Head(NamedTuple):
    """What stands between `<` and `>`."""

    name: str
    currency: str | None = None
    is_wanted: bool = False
    is_repeated: bool = False


class _Heads(dict[str, _Head]):
    """Each worked out once."""

    def __init__(self, wanted: tuple[str, ...]) -> None:
        super().__init__()
        self._wanted = frozenset(wanted)

    def __missing__(self, text: str) -> _Head:
        prefixed, currency = _NAME.match(text), _CURRENCY.search(text)
        name = "" if prefixed is None else prefixed[0].rpartition(":")[2]
        head = _Head(name, currency and currency[1], name in self._wanted, name in REPEATED)
        if len(self) < MAX_HEADS:
            self[text] = head
        return head


def read_elements(data: bytes, names: tuple[str, ...], limits: Limits) -> Iterator[tuple[str, Tree]]:
    """The elements of these names as they end. A part that was handed out is missing in the whole.

    Most elements have no children, so one that has begun is only kept as `head` and `text` until a child begins.
    """
    heads, depth, length = _Heads(names), limits.depth, limits.line_length
    node: Tree = {}
    stack: list[tuple[_Head, Tree]] = [(_Head(""), node)]
    head, text = None, ""
    for piece in _read_pieces(prepare_xml(data, limits)):
        for token in piece.split("<")[1:]:
            if token[0] != "/":
                if head is not None:
                    stack.append((head, node))
                    # Text before a child is indentation; what has words of its own has no children that matter.
                    node = {} if not text or text.isspace() else _keep_words(text, head, length)
                    if len(stack) > depth:
                        raise StatementError("The XML is nested too deeply.", field=head[0])
                start, _, text = token.partition(">")
                head = heads[start]
                if head[1] is not None:
                    node.setdefault(f"{head[0]}@Ccy", head[1])
                continue
            value: Any
            if head is not None:
                name, _, is_wanted, is_repeated = head
                if "&" in text or len(text) > length:
                    text = _read_text(text, name, length)
                value, head = text if is_repeated else text.strip(), None
            else:
                value = node.get(_WORDS, node)
                (name, _, is_wanted, is_repeated), node = stack.pop()
            if is_wanted:
                yield name, value if type(value) is dict else {}
            elif is_repeated:
                node.setdefault(name, []).append(value)
            elif name not in node:
                node[name] = value


def _keep_words(text: str, head: _Head, length: int) -> Tree:
    return {} if head.is_wanted else {_WORDS: _read_text(text, head.name, length)}


def _read_text(text: str, name: str, length: int) -> str:
    if len(text) > length:
        raise StatementError("This text is too long.", field=name)
    return _ESCAPE.sub(_unescape, text)


def _unescape(match: re.Match[str]) -> str:
    hexadecimal, number, name = match.groups()
    return _CHARACTERS[name] if name else chr(int(hexadecimal, 16) if hexadecimal else int(number))


class ElementLines:
    """On which lines of a file the elements of one name begin. Asked for in their order, they cost one pass."""

    def __init__(self, data: bytes, name: str) -> None:
        is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in data[:4]
        self._data = b"" if is_wide else data
        self._starts = re.finditer(rb"<(?:[\w.-]+:)?%s[\s/>]" % name.encode(), self._data)
        self._number, self._place, self._line = 0, 0, 1

    def find(self, number: int) -> int | None:
        """The line of the element of this number; None where it cannot be told."""
        match = next(islice(self._starts, number - self._number - 1, None), None)
        if match is None:
            return None
        self._line += self._data.count(b"\n", self._place, match.start())
        self._number, self._place = number, match.start()
        return self._line


def find_tree(tree: Tree, name: str) -> Tree:
    """The first element of this name, if it has children; otherwise one that has nothing."""
    value = tree.get(name)
    return value if type(value) is dict else EMPTY


def list_trees(tree: Tree, name: str) -> list[Tree]:
    """All elements of a repeated name that have children."""
    return [element for element in tree.get(name, ()) if type(element) is dict]


def find_text(tree: Tree, name: str) -> str | None:
    """The text of the first element of this name; None if there is none."""
    value = tree.get(name)
    return value or None if type(value) is str else None


def find_deep_text(tree: Tree, *path: str) -> str | None:
    """The text of the first element under this path; None if there is none."""
    for name in path[:-1]:
        tree = find_tree(tree, name)
    return find_text(tree, path[-1])
