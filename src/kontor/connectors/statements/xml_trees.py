"""XML of statement files as plain dictionaries, without namespaces: `{"Amt": ["12.00"], "Amt@Ccy": ["EUR"], …}`.

What an XML file can do to its reader is refused before libxml2 sees it: document types and with them entities,
encodings nobody uses, depth. libxml2's own limits on names, attributes and text stay on.
"""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import Any, TypeAlias

from lxml import etree

from kontor.connectors.statements.decoding import BYTE_ORDER_MARKS, check_size, decode_text
from kontor.connectors.statements.results import Limits, StatementError

Tree: TypeAlias = dict[str, list[Any]]  # a value is a text or a Tree
_DECLARATION = re.compile(rb"\s*<\?xml[^>]{0,200}?\?>")
_ENCODING = re.compile(rb"encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_CONTROL_BYTES = bytes(one for one in range(32) if one not in (9, 10, 13))
_CODE_PAGES = {"iso-8859-1": "latin-1", "iso-8859-15": "iso-8859-15", "windows-1252": "cp1252", "latin1": "latin-1"}


class _Names(dict[str, str]):
    """Local names by full ones, each worked out once."""

    def __missing__(self, tag: str) -> str:
        name = self[tag] = tag.rpartition("}")[2]
        return name


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
    if _CONTROLS.search(data):
        data = data.translate(None, _CONTROL_BYTES)
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


def read_elements(data: bytes, names: tuple[str, ...], limits: Limits) -> Iterator[tuple[str, Tree]]:
    """The elements of these names as they end. A part that was handed out is empty in the whole."""
    local, tags = _Names(), tuple(f"{{*}}{name}" for name in names)
    events = etree.iterparse(
        BytesIO(prepare_xml(data, limits)),
        events=("end",),
        tag=tags,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
    try:
        for _, element in events:
            tree = _make_tree(element, local, limits.depth, limits.line_length)
            name = local[element.tag]
            element.clear()
            yield name, tree
    except etree.XMLSyntaxError as error:
        raise StatementError(f"The XML cannot be read: {error.msg}", line=error.lineno) from error


def _make_tree(element: Any, names: _Names, depth: int, length: int) -> Tree:
    if depth == 0:
        raise StatementError("The XML is nested too deeply.", line=element.sourceline)
    tree: Tree = {}
    for child in element:
        name = names[child.tag]
        value: Any = child.text
        # Text before a child is indentation; what has words of its own has no children that matter.
        if (value is None or value.isspace()) and len(child):
            value = _make_tree(child, names, depth - 1, length)
        elif value is None:
            value = ""
        else:
            if len(value) > length:
                raise StatementError("This text is too long.", line=child.sourceline, field=name)
            if name[-3:] == "Amt" and (currency := child.get("Ccy")):
                tree.setdefault(f"{name}@Ccy", []).append(currency)
        if name in tree:
            tree[name].append(value)
        else:
            tree[name] = [value]
    return tree


def find_tree(tree: Tree | None, *path: str) -> Tree | None:
    """The first element under this path, if it has children."""
    node: Any = tree
    for name in path:
        if type(node) is not dict or (values := node.get(name)) is None:
            return None
        node = values[0]
    return node if type(node) is dict else None


def find_text(tree: Tree | None, *path: str) -> str | None:
    """The text of the first element under this path, without blanks around it; None if there is none."""
    node: Any = tree
    for name in path:
        if type(node) is not dict or (values := node.get(name)) is None:
            return None
        node = values[0]
    return node.strip() or None if type(node) is str else None
