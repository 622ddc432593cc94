"""A credit file as one page, with nothing loaded from elsewhere."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from kontor.wire.credit_pages.contents import make_contents


@cache
def _load_template() -> Template:
    loader = PackageLoader("kontor.wire.credit_pages")
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("credit_file.html")


def draw_page(text: str, signature: str) -> bytes:
    return _load_template().render(c=make_contents(text, signature)).encode()
