"""Where the user is signed in, and which assistants may read: see it, and end it with the password."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kontor.console.visits import BASE, Facts, Form, RedirectTo, View, Visit, field_of
from kontor.domain.scopes import CUSTOMER_TAGS
from kontor_client import ApiError

TOKENS = "/customer/v2/tokens"
PAGE = f"{BASE}/sign-ins"
# Refusals that are about the password, by their status.
PROBLEMS = {400: "password", 429: "locked"}


@dataclass(frozen=True, slots=True)
class SignIn:
    """A token of the user, or what an assistant was granted."""

    id: str
    client: str
    since: datetime
    until: datetime
    is_assistant: bool
    is_current: bool
    may_change: bool  # categories and rules

    @classmethod
    def read(cls, token: Mapping[str, Any]) -> "SignIn":
        return cls(
            token["id"],
            token["client"],
            datetime.fromtimestamp(int(token["issuedAt"]), UTC),
            datetime.fromtimestamp(int(token["expiresAt"]), UTC),
            token.get("grant", False),
            token["current"],
            CUSTOMER_TAGS in token["scope"].split(),
        )


async def show(visit: Visit) -> Facts:
    return await _show(visit)


async def _show(visit: Visit, problem: str | None = None, chosen: tuple[str, ...] = ()) -> Facts:
    found = [SignIn.read(token) for token in await visit.api.get(TOKENS)]
    others = [sign_in for sign_in in found if not sign_in.is_assistant]
    return {
        "assistants": [sign_in for sign_in in found if sign_in.is_assistant],
        "sign_ins": sorted(others, key=lambda sign_in: not sign_in.is_current),
        "problem": problem,
        "chosen": chosen,
    }


async def end(visit: Visit, form: Form) -> Facts:
    """The call holds the password, so it is not among those that the page lists."""
    chosen, password = tuple(form.get("id", ())), field_of(form, "password")
    if not chosen or not password:
        return await _show(visit, "password" if chosen else "nothing", chosen)
    try:
        await visit.api.client.request("POST", f"{TOKENS}/revoke", json={"password": password, "ids": chosen})
    except ApiError as error:
        if error.status not in PROBLEMS:
            raise
        return await _show(visit, PROBLEMS[error.status], chosen)
    raise RedirectTo(PAGE, notice="sign_ins_ended")


VIEWS = [View("sign_ins", "/sign-ins", show, group="data", actions={"end": end}, repeatable=("id",))]
