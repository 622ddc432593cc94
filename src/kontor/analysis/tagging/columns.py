"""Purposes that a bank's old system cut into lines of 27, 35 or 54 letters, and words with them.

The lines come joined by blanks, so that `KONTOFUEHRUNG` may read `KONTOF UEHRUNG`. A line that is full to its last
letter may have cut a word or not; both readings are kept.
"""

WIDTHS = (27, 35, 54)


def find_breaks(text: str, width: int) -> list[tuple[int, bool]]:
    """Where lines end, and whether they are full. Empty if the text does not look cut at this width."""
    breaks: list[tuple[int, bool]] = []
    position, length = 0, len(text)
    while length - position > width:
        end = position + width
        if text[end] == " ":
            breaks.append((end, True))
        elif text[end - 1] == " ":
            # A blank at the line's end or at its beginning was stripped.
            end -= 1
            breaks.append((end, False))
        elif text[end - 2] == " ":
            end -= 2
            breaks.append((end, False))
        else:
            return []
        position = end + 1
    return breaks


def join_lines(text: str) -> tuple[str, str, str]:
    """The text with the words of full lines joined, the other reading of every place where a line ends, and the joined
    words of these places alone."""
    if len(text) <= WIDTHS[0]:
        return text, "", ""
    for width in WIDTHS:
        breaks = find_breaks(text, width)
        if breaks:
            return _join(text, breaks)
    return text, "", ""


def _join(text: str, breaks: list[tuple[int, bool]]) -> tuple[str, str, str]:
    pieces, others, words, start = [], [], [], 0
    for place, is_full in breaks:
        before = text.rfind(" ", start, place) + 1 or start
        after = text.find(" ", place + 1)
        after = after if after > 0 else len(text)
        words.append(text[before:place] + text[place + 1 : after])
        if is_full and not _is_word_behind_number(text, place):
            pieces.append(text[start:place])
            others.append(text[before:after])
        else:
            pieces.append(text[start : place + 1])
            others.append(words[-1])
        start = place + 1
    pieces.append(text[start:])
    return "".join(pieces), " , ".join(others), " , ".join(words)


def _is_word_behind_number(text: str, place: int) -> bool:
    """A number does not go on with a word, so that the blank between them is none of a line's end."""
    following = text[place + 1 : place + 4]
    return text[place - 1].isdigit() and following.isalpha() and following[1:].islower()


def is_cut(name: str) -> bool:
    """Whether a name may have lost its end: it is as long as such systems and terminals allow."""
    return len(name) in _CUT_LENGTHS


# A blank at the cut is stripped, so one letter less counts too.
_CUT_LENGTHS = frozenset((22, 23, 24, 25, 26, 27, 34, 35, 70))
