"""What a bank's customers are asked for, in the words of their bank.

The labels are those of the banks' own login pages. Formats are generous on purpose: one that is too narrow locks a
customer out, one that is too wide costs a wrong login at most. The user id of FinTS has at most 30 characters.
"""

from dataclasses import dataclass

from kontor.domain.login_formats import compile_format
from kontor.domain.providers import LoginField

_ANY_USER_ID = r"^\S(.{0,28}\S)?$"
_ANY_PIN = r"^.{4,99}$"
_HINT = "Melden Sie sich mit den Zugangsdaten Ihres Online-Bankings an."


@dataclass(frozen=True, slots=True)
class LoginForm:
    fields: tuple[LoginField, ...]
    hint: str | None


def _fints_form(
    label: str, *, format: str = _ANY_USER_ID, hint: str | None = None, pin_label: str = "PIN", login_hint: str = _HINT
) -> LoginForm:
    return LoginForm(
        fields=(
            LoginField(key="userid", label=label, is_secret=False, format=format, hint=hint),
            LoginField(key="pin", label=pin_label, is_secret=True, format=_ANY_PIN),
        ),
        hint=login_hint,
    )


_VR_NETKEY = _fints_form("VR-NetKey oder Alias")

_FINTS_FORMS = {
    "1822direkt": _fints_form("Kontonummer oder Benutzername"),
    "BBBank": _VR_NETKEY,
    "comdirect": _fints_form("Zugangsnummer", format="#8", hint="8 Ziffern"),
    "Commerzbank": _fints_form(
        "Teilnehmernummer",
        hint="Die Nummer selbst, nicht der selbst gewählte Anmeldename",
    ),
    "Consorsbank": _fints_form("Kontonummer oder User-ID"),
    "Deutsche Bank": _fints_form(
        "Filial- und Kontonummer oder Deutsche Bank ID",
        hint="Filialnummer und Kontonummer ohne Unterkonto, zum Beispiel 7001234567",
        pin_label="PIN oder Passwort",
    ),
    "DKB": _fints_form("Anmeldename", pin_label="Passwort"),
    "EthikBank": _VR_NETKEY,
    "Evangelische Bank": _VR_NETKEY,
    "GLS Bank": _VR_NETKEY,
    "HypoVereinsbank": _fints_form("Direct Banking Nummer"),
    # https://ing.de/kundenservice/sicherheit: the last ten digits of the IBAN
    "ING": _fints_form(
        "Zugangsnummer", format="#10", hint="Die letzten 10 Ziffern Ihrer IBAN", pin_label="Internetbanking PIN"
    ),
    "Pax-Bank": _VR_NETKEY,
    "Postbank": _fints_form("Postbank ID", pin_label="Passwort"),
    "PSD Bank": _fints_form("PSD-Key, VR-NetKey oder Alias"),
    "Sparda-Bank": _fints_form("Kundennummer oder Alias", pin_label="Online-PIN"),
    "Sparkasse": _fints_form("Anmeldename oder Legitimations-ID"),
    "Volksbanken Raiffeisenbanken": _VR_NETKEY,
}
_ANY_FINTS_FORM = _fints_form("Anmeldename / Benutzerkennung")

# The demo bank takes any text, so that a wrong login can be tried too.
DEMO_FORM = LoginForm(
    fields=(
        LoginField(
            key="userid", label="Anmeldename", is_secret=False, format=r"^\S.{0,63}$", hint="Zum Beispiel demo1"
        ),
        LoginField(key="pin", label="PIN", is_secret=True, format=r"^.{1,64}$", hint="demo"),
    ),
    hint="Die Demo-Bank ist erfunden. Mit dem Anmeldenamen demo1 und der PIN demo sehen Sie alles.",
)
FILES_FORM = LoginForm(
    fields=(
        LoginField(key="userid", label="Ordner", is_secret=False, format=r"^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$"),
        LoginField(key="pin", label="PIN des Ordners", is_secret=True, format=r"^.{1,99}$"),
    ),
    hint="Der Ordner, in dem Ihre Kontoauszüge abgelegt werden.",
)
# The customer logs in on the bank's page. The name tells several logins of one customer apart.
ENABLEBANKING_FORM = LoginForm(
    fields=(
        LoginField(
            key="userid",
            label="Name der Verbindung",
            is_secret=False,
            format=_ANY_USER_ID,
            hint="Frei wählbar, zum Beispiel Mein Konto",
        ),
    ),
    hint="Ihre Zugangsdaten geben Sie danach auf der Seite Ihrer Bank ein, nicht hier.",
)
# Asking for a PIN that nothing can be done with would be wrong.
NO_FORM = LoginForm(fields=(), hint=None)


def fints_form(group: str) -> LoginForm:
    return _FINTS_FORMS.get(group, _ANY_FINTS_FORM)


def check_formats() -> None:
    """A broken format must stop the start, not the first customer who logs in."""
    for form in (*_FINTS_FORMS.values(), _ANY_FINTS_FORM, DEMO_FORM, FILES_FORM, ENABLEBANKING_FORM):
        for field in form.fields:
            compile_format(field.format)
