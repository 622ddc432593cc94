"""A book as a beancount file: text of double-entry bookkeeping."""

from collections.abc import Iterable
from datetime import date, timedelta

from kontor.services.statements import Ledger
from kontor.wire.bookkeeping import OPENING, BookHead, Entry, describe_category, fit_line, name_category


def quote(text: str | None) -> str:
    """A string of beancount, in one line."""
    return '"{}"'.format(fit_line(text).replace("\\", "\\\\").replace('"', '\\"'))


class Beancount:
    """See `BookFormat`."""

    def write_head(self, head: BookHead) -> Iterable[str]:
        yield "; Exported by Kontor. Pending bookings are left out.\n"
        yield 'option "title" "Kontor"\n'
        if "EUR" in head.currencies or len(head.currencies) == 1:
            yield f'option "operating_currency" "{head.main_currency}"\n'
        yield "\n"
        yield from (f"{head.first_day} commodity {currency}\n" for currency in head.currencies)
        yield f"\n{head.first_day} open {OPENING}\n"
        for name, ledger in head.ledgers:
            product = ledger.product.product
            yield f"{head.first_day} open {name}\n"
            yield f'  kontor-id: "{ledger.product.id}"\n'
            if product.iban:
                yield f"  iban: {quote(product.iban)}\n"
        for category in head.categories:
            yield f"{head.first_day} open {name_category(category)}\n"
            yield f"  name: {quote(describe_category(category))}\n"

    def begin_account(self, name: str, ledger: Ledger) -> str:
        return f"\n; {quote(ledger.product.product.name)}\n"

    def write_entry(self, entry: Entry) -> str:
        payee = "" if entry.payee is None else f"{quote(entry.payee)} "
        lines = [f"  {key}: {quote(text)}\n" for key, text in entry.facts.items() if text]
        lines += [f"  {posting.account}  {posting.amount} {posting.currency}\n" for posting in entry.postings]
        return f"\n{entry.day} * {payee}{quote(entry.narration)}\n" + "".join(lines)

    def end_account(self, name: str, ledger: Ledger, closed_on: date) -> str:
        """A balance is asserted for the beginning of a day."""
        return f"\n{closed_on + timedelta(days=1)} balance {name}  {ledger.closing} {ledger.currency}\n"

    def write_end(self) -> str:
        return ""
