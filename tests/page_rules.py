"""What no template of ours may hold."""

import re

INLINE = r"\sstyle=|<style|\son[a-z]+=|javascript:"
UNESCAPED = r"\|\s*safe\b|autoescape|Markup"
FROM_ELSEWHERE = r"(src|href|action)=\"https?:"
SCRIPT = r"<script(?![^>]*\ssrc=)"
SCRIPT_BUT_DATA = r"<script(?![^>]*(\ssrc=|\stype=\"application/json\"))"


def find_unsafe(template: str, *, allows_data: bool = False) -> list[str]:
    """Inline code and styles, texts that are not escaped, other hosts. Data for a script may stand in an element."""
    patterns = (INLINE, UNESCAPED, FROM_ELSEWHERE, SCRIPT_BUT_DATA if allows_data else SCRIPT)
    return [found[0] for pattern in patterns for found in re.finditer(pattern, template)]
