"""What a user has entered to log in, without secrets: kept in the browser alone, so that a wrong PIN keeps the name.

A session can be opened by whoever has its address, also by a tenant. So nothing of an access that is stored is shown,
only what this very browser has sent in this very session.
"""

import base64
import binascii

import msgspec

from kontor.domain.secrets import Secret
from kontor.pages.browser import AnyRequest, Cookies
from kontor.services.redirects import FormView

LONGEST = 2000  # of a cookie; what is longer is typed again


class Entered(msgspec.Struct, frozen=True):
    session: str
    provider: str
    values: dict[str, str]


class EnteredNames:
    def __init__(self, *, is_https: bool) -> None:
        self._cookies = Cookies("kontor-form-name", is_https)

    def write(self, view: FormView, form: dict[str, list[str]]) -> str | None:
        """The cookie; None where there is nothing to keep."""
        if view.provider is None:
            return None
        keys = [field.key for field in view.provider.login_fields if not field.is_secret]
        values = {key: form.get(f"field-{key}", [""])[0].strip() for key in keys}
        entered = Entered(view.session.id.hex, str(view.provider.id), values)
        text = base64.urlsafe_b64encode(msgspec.json.encode(entered)).decode()
        return None if len(text) > LONGEST else self._cookies.write(Secret(text), is_framed=view.session.is_framed)

    def read(self, request: AnyRequest, view: FormView) -> dict[str, str]:
        cookie = self._cookies.read(request)
        if cookie is None or view.provider is None:
            return {}
        try:
            entered = msgspec.json.decode(base64.urlsafe_b64decode(cookie.reveal()), type=Entered)
        except (binascii.Error, ValueError, msgspec.MsgspecError):
            return {}
        is_same = (entered.session, entered.provider) == (view.session.id.hex, str(view.provider.id))
        known = {field.key for field in view.provider.login_fields if not field.is_secret}
        return {key: value for key, value in entered.values.items() if key in known} if is_same else {}
