"""A tenant's colours as a style sheet. What a tenant did not choose is worked out so that it can be read."""

from kontor.domain.colours import DARK, LIGHT, PRIMARY, make_readable, mix, readable_on
from kontor.domain.redirects import Branding


def make_theme(branding: Branding) -> str:
    """Empty for a tenant without colours: then the form's own style sheet stands."""
    chosen = dict(branding.colours)
    if not chosen:
        return ""
    light = _variables(chosen, LIGHT, PRIMARY)
    dark_choice = {name.removeprefix("dark-"): value for name, value in chosen.items() if name.startswith("dark-")}
    dark = _variables(dark_choice, DARK, chosen.get("primary", PRIMARY))
    return f":root{{{light}}}\n@media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"


def _variables(chosen: dict[str, str], defaults: dict[str, str], primary: str) -> str:
    background = chosen.get("background", defaults["background"])
    surface = chosen.get("surface", defaults["surface"])
    text = chosen.get("text", defaults["text"])
    primary = make_readable(chosen.get("primary", primary), surface)
    tint = mix(primary, surface, 0.92)  # behind what is chosen, where muted text must be readable, too
    values = {
        "background": background,
        "surface": surface,
        "text": text,
        "muted": make_readable(make_readable(mix(text, surface, 0.35), surface), tint),
        "muted-out": make_readable(mix(text, background, 0.35), background),
        "line": mix(text, surface, 0.8),
        "field-line": mix(text, surface, 0.45),
        "primary": primary,
        "on-primary": readable_on(primary),
        "primary-hover": mix(primary, text, 0.18),
        "tint": tint,
    }
    return "".join(f"--{name}:{value};" for name, value in values.items())
