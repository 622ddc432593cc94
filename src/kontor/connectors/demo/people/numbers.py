"""Numbers with check digits: IBAN, creditor id, ISIN. And the bank codes they are made with."""

from kontor.connectors.demo.people.streams import derive_number, draw_digits, pick_one

DEMO_BANK_CODE = "99999999"
DEMO_BIC = "KONTDEFFXXX"
DEMO_BANK = "Kontor Demobank"

# Real bank codes, so that partners' IBANs look like any other; the account numbers are made up.
BANKS = (
    ("50010517", "INGDDEFFXXX"),
    ("12030000", "BYLADEM1001"),
    ("37040044", "COBADEFFXXX"),
    ("50070010", "DEUTDEFFXXX"),
    ("20041155", "COBADEHDXXX"),
    ("10010010", "PBNKDEFFXXX"),
    ("37050198", "COLSDE33XXX"),
    ("20050550", "HASPDEHHXXX"),
    ("70150000", "SSKMDEMMXXX"),
    ("10050000", "BELADEBEXXX"),
    ("50050201", "HELADEF1822"),
    ("60050101", "SOLADEST600"),
    ("70020270", "HYVEDEMMXXX"),
    ("30020900", "CMCIDEDDXXX"),
    ("43060967", "GENODEM1GLS"),
    ("25050180", "SPKHDE2HXXX"),
    ("86055592", "WELADE8LXXX"),
    ("85050300", "OSDDDE81XXX"),
    ("30060601", "DAAEDEDDXXX"),
    ("76050101", "SSKNDE77XXX"),
)
DIRECT_BANKS = BANKS[:2]


def _read_as_digits(text: str) -> int:
    return int("".join(str(int(char, 36)) for char in text))


def compute_check_digits(text: str) -> str:
    """ISO 7064 mod 97-10 over a text that ends in its country and two zeros."""
    return f"{98 - _read_as_digits(text) % 97:02d}"


def make_iban(bank_code: str, account_number: str) -> str:
    body = bank_code + account_number.zfill(10)
    return f"DE{compute_check_digits(body + 'DE00')}{body}"


def make_own_account_number(login: str, account: str) -> str:
    return draw_digits(10, "account number", login, account)


def make_home_savings_number(login: str) -> str:
    return f"{draw_digits(8, 'home savings', login)} N01"


def make_partner_iban(owner: str) -> tuple[str, str]:
    """IBAN and BIC of somebody elsewhere: always the same for the same owner."""
    bank_code, bic = pick_one(BANKS, "partner bank", owner)
    return make_iban(bank_code, draw_digits(9, "partner account", owner)), bic


def make_creditor_id(owner: str) -> str:
    """An invented creditor id; the block 099 is not given to anybody so far."""
    national = f"099{derive_number('creditor', owner) % 10**8:08d}"
    return f"DE{compute_check_digits(national + 'DE00')}ZZZ{national}"
