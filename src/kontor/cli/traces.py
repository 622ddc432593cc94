"""Recording a dialogue with a bank: `kontor trace`."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from getpass import getpass
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from cyclopts import Parameter

from kontor.cli.context import say, use_services
from kontor.config import read_settings
from kontor.connectors.base import (
    Answer,
    Cancel,
    ChooseMedium,
    ChooseMethod,
    Done,
    Failed,
    Fetched,
    NeedConfirmation,
    NeedMedium,
    NeedMethod,
    NeedRedirect,
    NeedTan,
    Poll,
    Returned,
    Step,
    Tan,
)
from kontor.domain.providers import Provider
from kontor.domain.sca import Challenge
from kontor.domain.secrets import Secret
from kontor.services.banks import TracedDialogue, TracedUser
from kontor.services.bundle import Services

DEFAULT_OUTPUT = Path("bank.trace.json")
READ_IT = "Read the file before you send it: names, numbers and texts are masked, days stay, amounts are multiplied."


def trace(
    tenant: Annotated[str, Parameter(help="The tenant.")],
    username: Annotated[str, Parameter(help="The user for whom the bank is called.")],
    provider: Annotated[str, Parameter(help="The bank: its provider id or its bank code.")],
    *,
    output: Annotated[Path, Parameter(help="The file to write. It must not exist yet.")] = DEFAULT_OUTPUT,
    customer_ip: Annotated[str, Parameter(help="The customer's address, which XS2A banks are told.")] = "127.0.0.1",
    callback: Annotated[
        str | None, Parameter(help="Where a bank's page leads back to. By default the address of the web form.")
    ] = None,
) -> None:
    """Record a fetch of all accounts at a bank, masked, in a form that tests replay.

    You are asked for the credentials and for what the bank wants to know. Nothing is stored, and nothing but the masked
    file is written. See docs/guides/traces.md.
    """
    if output.exists():
        raise FileExistsError(17, "the file exists already", str(output))

    async def run(services: Services) -> TracedDialogue:
        user = await services.users.find_user_by_operator(tenant, username)
        bank = services.bank_tracing.find_provider(provider)
        say(f"{bank.name}: nothing that you enter is stored or written.")
        credentials = await _ask_credentials(bank)
        return_url = callback or f"{read_settings().base_url}/customer/v2/webform/return"
        traced_user = TracedUser(user.id, user.pseudonym, user.tenant_id)
        return await services.bank_tracing.trace(traced_user, bank, credentials, _answer, customer_ip, return_url)

    traced = use_services(run)
    descriptor = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(traced.trace)
    say(f"{_summarise(traced.end)} {traced.exchanges} exchanges are in {output}.")
    say(READ_IT)


def _summarise(end: Step) -> str:
    if isinstance(end, Done) and isinstance(end.result, Fetched):
        bookings = sum(len(rows) for rows in end.result.transactions.values())
        return f"{len(end.result.transactions)} accounts with {bookings} bookings."
    return f"The dialogue failed ({end.kind})." if isinstance(end, Failed) else "The dialogue ended."


# Asking. In a thread, since the lease of the credentials is renewed meanwhile.


async def _read_line(question: str, *, is_secret: bool = False) -> str:
    if is_secret and sys.stdin.isatty():
        return (await asyncio.to_thread(getpass, f"{question}: ")).strip()
    say(f"{question}:")
    line: str = await asyncio.to_thread(sys.stdin.readline)
    return line.strip()


async def _ask_credentials(provider: Provider) -> dict[str, Secret]:
    return {
        field.key: Secret(await _read_line(field.label, is_secret=field.is_secret)) for field in provider.login_fields
    }


async def _answer(step: Step) -> Answer:
    """What the bank wants to know; an empty answer ends the dialogue, except where none is needed."""
    match step:
        case NeedMethod(methods):
            place = await _choose("Method", [f"{method.name} ({method.code})" for method in methods])
            return Cancel() if place is None else ChooseMethod(methods[place].code)
        case NeedMedium(media):
            place = await _choose("Device", [medium.name for medium in media])
            return Cancel() if place is None else ChooseMedium(media[place].name)
        case NeedTan(challenge):
            tan = await _show_challenge(challenge)
            return Tan(Secret(tan)) if tan else Cancel()
        case NeedConfirmation(challenge):
            say(challenge.instructions)
            await _read_line("Confirm in your app, then press Enter")
            return Poll()
        case NeedRedirect(url):
            say(f"Open {url}")
            address = await _read_line("Confirm there. Paste the address that your browser shows afterwards, or Enter")
            return Returned(urlsplit(address).query)
    return Cancel()


async def _choose(what: str, choices: Sequence[str]) -> int | None:
    if len(choices) == 1:
        return 0
    for number, choice in enumerate(choices, start=1):
        say(f"  {number}  {choice}")
    text = await _read_line(f"{what}, 1 to {len(choices)}")
    return int(text) - 1 if text.isdecimal() and 1 <= int(text) <= len(choices) else None


async def _show_challenge(challenge: Challenge) -> str:
    say(f"{challenge.method_name}: {challenge.instructions}")
    if challenge.hhd_uc is not None:
        say(f"Flicker code: {challenge.hhd_uc}")
    if challenge.photo is None:
        return await _read_line("TAN", is_secret=True)
    with tempfile.NamedTemporaryFile(prefix="kontor-", suffix=".png") as image:
        image.write(challenge.photo)
        image.flush()
        say(f"The picture is in {image.name} until you answer.")
        return await _read_line("TAN", is_secret=True)
