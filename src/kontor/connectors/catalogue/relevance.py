"""Which bank codes a private customer can have an account under.

The register lists every code that takes part in clearing: central banks, settlement and cash-machine codes, codes
that a merger left behind ("-alt-"), wholesale banks. They stay in the catalogue, since an old code may still be on
somebody's statement, but they are marked and come last.
"""

from kontor.connectors.catalogue.banks import Bank

_WHOLESALE_GROUPS = frozenset({"Aareal Bank", "Bundesbank", "DZ BANK", "KfW", "Landesbank"})

# Chains with hundreds of codes that all share one address: a code without it is used inside the bank only.
_CHAINS = frozenset({"Deutsche Bank", "HypoVereinsbank", "Postbank"})

# Words of the register: business fields, cash machines, clearing, former branches, codes left behind.
_INTERNAL_USE = frozenset(
    (
        *("alt", "eh", "ehem", "Geschäftsfeld", "interne"),
        *("GF", "Gf", "Gf2", "Gf3", "Gf4", "GAA", "BLZ", "IBLZ", "BZ", "ZTB", "Ztv", "ZV", "ZVA"),
        *("CC", "CLB", "INT", "Intensive", "IPC", "ITGK", "PCC"),
        *("Clearing", "Clearingkonto", "Processing", "Settlement", "settlements", "Verrechnung"),
    )
)
_INTERNAL_BRANCHES = frozenset({"Zw", "ZW"})  # elsewhere a branch like any other
_SEPARATORS = str.maketrans("-(),./", "      ")

# Names outside of the groups that begin so: banks for banks, for companies, for public funding, payment processors.
_WHOLESALE = (
    "ABN AMRO",
    "Adyen",
    "Agricultural Bank",
    "AKA ",
    "Arab Banking",
    "Attijariwafa",
    "Banco do Brasil",
    "Bank Melli",
    "Bank of",
    "Bank Saderat",
    "Bank Sepah",
    "Banking Circle",
    "BANQUE",
    "BfW",
    "CACEIS",
    "China Construction",
    "Citibank",
    "Credit Agricole",
    "Deutsche Leasing",
    "Deutsche Pfandbrief",
    "Deutsche Wertp",
    "Ebury",
    "Financiere",
    "First Commercial",
    "German branch of",
    "Goldman",
    "GSCF",
    "IC Cash",
    "ICICI",
    "Industrial and",
    "Intesa",
    "INTESA",
    "Investition",
    "J.P.",
    "KBC",
    "KEB",
    "Kommunalkredit",
    "Landeskreditbank",
    "Landwirtschaftliche Renten",
    "LfA",
    "MANGOPAY",
    "Misr",
    "Mizuho",
    "Morgan",
    "MUFG",
    "National Bank of",
    "NATIXIS",
    "NORD/LB",
    "NRW.BANK",
    "OWH",
    "PAYONE",
    "Rabobank",
    "Saarl Inv",
    "SECB",
    "SHINHAN",
    "SIEMENS",
    "Skandinaviska",
    "SMBC",
    "Standard Chartered",
    "State Bank",
    "State Street",
    "Sumitomo",
    "Swan ",
    "Sächsische Aufbau",
    "The Bank",
    "The Korea",
    "transact",
    "Treezor",
    "TRUMPF",
    "UniCredit German",
    "UNLIMINT",
    "VERIFONE",
    "Vietnam",
    "VÖB",
    "WOORI",
)


def is_consumer_relevant(bank: Bank) -> bool:
    if bank.group in _WHOLESALE_GROUPS or (bank.group in _CHAINS and not bank.address):
        return False
    if not bank.group and bank.name.startswith(_WHOLESALE):
        return False
    words = bank.name.translate(_SEPARATORS).split()
    if not _INTERNAL_USE.isdisjoint(words):
        return False
    return bank.group != "Commerzbank" or _INTERNAL_BRANCHES.isdisjoint(words)
