"""The catalogue: the providers that are offered, found by id or by what a person types."""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from functools import cached_property
from uuid import UUID

from kontor.connectors.catalogue.search import SearchIndex
from kontor.domain.providers import Provider

_FIELDS = tuple(field.name for field in fields(Provider))


class Catalogue:
    """`cities` says for a bank code where the bank sits; it is searched but not shown.

    `make_readable` makes the providers whose statements can be read from files, whether they can be called or not.
    """

    def __init__(
        self,
        providers: Iterable[Provider],
        cities: Mapping[str, str] | None = None,
        make_readable: Callable[[], Iterable[Provider]] | None = None,
    ) -> None:
        self._providers = tuple(providers)
        self._make_readable = make_readable
        self._cities = cities or {}
        self._by_id = {provider.id: provider for provider in self._providers}
        self._digests: dict[UUID, bytes] = {}
        self._texts: dict[tuple[object, ...], str] = {}

    def __len__(self) -> int:
        return len(self._providers)

    def find(self, id: UUID) -> Provider | None:
        return self._by_id.get(id)

    @cached_property
    def readable(self) -> "Catalogue":
        """The providers whose statements can be read from files."""
        made = () if self._make_readable is None else self._make_readable()
        return Catalogue(made, self._cities)

    def list(self, q: str | None = None, blz: str | None = None, bic: str | None = None) -> tuple[Provider, ...]:
        """All that fit, best first when `q` is given. `blz` and `bic` may be beginnings; blanks do not count."""
        providers = self._providers if q is None or not q.strip() else self._index.search(q)
        code, business = _without_blanks(blz), _without_blanks(bic).upper()
        return tuple(
            provider
            for provider in providers
            if (provider.bank_code or "").startswith(code) and (provider.bic or "").startswith(business)
        )

    def etag(self, providers: Iterable[Provider] | None = None, salt: str = "") -> str:
        """A strong entity tag over the content of these providers, or of all; `salt` is what else shapes the answer."""
        if providers is None:
            return self._entire_etag if not salt else self._make_etag(self._providers, salt)
        return self._make_etag(providers, salt)

    @cached_property
    def _index(self) -> SearchIndex:
        return SearchIndex(self._providers, self._cities)

    @cached_property
    def _entire_etag(self) -> str:
        return self._make_etag(self._providers, "")

    def _make_etag(self, providers: Iterable[Provider], salt: str) -> str:
        tag = hashlib.sha256(salt.encode())
        for provider in providers:
            tag.update(self._digest(provider))
        return f'"{tag.hexdigest()[:32]}"'

    def _digest(self, provider: Provider) -> bytes:
        known = self._digests.get(provider.id)
        if known is None or self._by_id.get(provider.id) is not provider:
            text = "\n".join(self._text(getattr(provider, name)) for name in _FIELDS)
            known = hashlib.sha256(text.encode()).digest()
            if self._by_id.get(provider.id) is provider:
                self._digests[provider.id] = known
        return known

    def _text(self, value: object) -> str:
        """Login forms and channels are shared by many providers: writing them out once makes this ten times faster."""
        if not isinstance(value, tuple):
            return repr(value)
        known = self._texts.get(value)
        if known is None:
            known = self._texts[value] = repr(value)
        return known


def _without_blanks(text: str | None) -> str:
    return "".join((text or "").split())
