"""A book as a journal of hledger: plain text accounting."""

from collections.abc import Iterable
from datetime import date

from kontor.services.statements import Ledger
from kontor.wire.bookkeeping import OPENING, BookHead, Entry, Posting, describe_category, fit_line, name_category

# Within a description `;` begins a comment and `|` ends the payee. Within a comment a comma ends the value of a tag.
_OF_DESCRIPTIONS = str.maketrans({";": ",", "|": "/"})
_OF_TAGS = str.maketrans({",": ";"})


class Hledger:
    """See `BookFormat`."""

    def write_head(self, head: BookHead) -> Iterable[str]:
        yield "; Exported by Kontor. Pending bookings are left out.\n\n"
        yield from (f"commodity 1000.00 {currency}\n" for currency in head.currencies)
        yield f"\naccount {OPENING}\n"
        for name, ledger in head.ledgers:
            yield f"account {name}\n"
            facts = {"kontor-id": str(ledger.product.id), "iban": ledger.product.product.iban or ""}
            yield from (f"  ; {key}: {_fit_tag(text)}\n" for key, text in facts.items() if text)
        for category in head.categories:
            yield f"account {name_category(category)}\n"
            yield f"  ; name: {_fit_tag(describe_category(category))}\n"

    def begin_account(self, name: str, ledger: Ledger) -> str:
        return f"\n; {fit_line(ledger.product.product.name)}\n"

    def write_entry(self, entry: Entry) -> str:
        texts = [fit_line(text).translate(_OF_DESCRIPTIONS) for text in (entry.payee, entry.narration)]
        description = " | ".join(text for text in texts if text)
        # What stands in parentheses first would be the transaction's code.
        code = "() " if description.startswith("(") else ""
        lines = [f"  ; {key}: {_fit_tag(text)}\n" for key, text in entry.facts.items() if text]
        lines += [_write_posting(posting) for posting in entry.postings]
        return f"\n{entry.day} * {code}{description}".rstrip() + "\n" + "".join(lines)

    def end_account(self, name: str, ledger: Ledger, closed_on: date) -> str:
        """A posting of nothing, which asserts the balance after all other postings of that day."""
        amount = f"0 {ledger.currency} = {ledger.closing} {ledger.currency}"
        return f"\n{closed_on} * Balance of the bank\n  {name}  {amount}\n"

    def write_end(self) -> str:
        return ""


def _fit_tag(text: str) -> str:
    return fit_line(text).translate(_OF_TAGS)


def _write_posting(posting: Posting) -> str:
    day = "" if posting.day is None else f"  ; date: {posting.day}"
    return f"  {posting.account}  {posting.amount} {posting.currency}{day}\n"
