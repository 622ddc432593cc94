"""The templates of the register of information: Implementing Regulation (EU) 2024/2956, annex I, as corrected in 2025.

Columns have the codes of the EBA's CSV files. docs/compliance/dora.md says which of them could be verified, and how.
"""

from dataclasses import dataclass

REFERENCE = ("c0010", "Contractual arrangement reference number")
PROVIDER = "Identification code of the ICT third-party service provider"
TYPE_OF_CODE = "Type of code to identify the ICT third-party service provider"
LINK = "Link"


@dataclass(frozen=True, slots=True)
class Template:
    """`columns`: code and name."""

    code: str
    name: str
    columns: tuple[tuple[str, str], ...]


def _template(code: str, name: str, *columns: str | tuple[str, str]) -> Template:
    """Columns without a code are numbered in tens."""
    numbered = [
        (f"c{number * 10:04}", column) if isinstance(column, str) else column
        for number, column in enumerate(columns, 1)
    ]
    return Template(code, name, tuple(numbered))


TEMPLATES = (
    _template(
        "B_01.01", "Entity maintaining the register of information",
        "LEI of the entity maintaining the register of information", "Name of the entity", "Country of the entity",
        "Type of entity", "Competent authority", "Date of the reporting",
    ),
    _template(
        "B_01.02", "List of entities within the scope of consolidation",
        "LEI of the entity", "Name of the entity", "Country of the entity", "Type of entity",
        "Hierarchy of the entity within the group", "LEI of the direct parent undertaking of the entity",
        "Date of last update", "Date of integration in the register of information",
        "Date of deletion in the register of information", "Currency", "Value of total assets",
    ),
    _template(
        "B_01.03", "List of branches",
        "Identification code of the branch", "LEI of the financial entity head office of the branch",
        "Name of the branch", "Country of the branch",
    ),
    _template(
        "B_02.01", "Contractual arrangements - general information",
        REFERENCE, "Type of contractual arrangement", "Overarching contractual arrangement reference number",
        "Currency of the amount reported in B_02.01.0050",
        "Annual expense or estimated cost of the contractual arrangement for the past year",
    ),
    _template(
        "B_02.02", "Contractual arrangements - specific information",
        REFERENCE, "LEI of the entity making use of the ICT service(s)", PROVIDER, TYPE_OF_CODE, "Function identifier",
        "Type of ICT services", "Start date of the contractual arrangement", "End date of the contractual arrangement",
        "Reason of the termination or ending of the contractual arrangement",
        "Notice period for the financial entity making use of the ICT service(s)",
        "Notice period for the ICT third-party service provider",
        "Country of the governing law of the contractual arrangement", "Country of provision of the ICT services",
        "Storage of data", "Location of the data at rest (storage)", "Location of management of the data (processing)",
        "Sensitiveness of the data stored by the ICT third-party service provider",
        "Level of reliance on the ICT service supporting the critical or important function",
    ),
    _template(
        "B_02.03", "List of intra-group contractual arrangements",
        REFERENCE, "Contractual arrangement linked to the one in B_02.03.0010", LINK,
    ),
    _template(
        "B_03.01", "Entities signing the contractual arrangements for receiving ICT services",
        REFERENCE, "LEI of the entity signing the contractual arrangement", LINK,
    ),
    _template(
        "B_03.02", "ICT third-party service providers signing the contractual arrangements",
        REFERENCE, PROVIDER, TYPE_OF_CODE,
    ),
    _template(
        "B_03.03", "Entities signing the contractual arrangements for providing ICT services to other entities",
        REFERENCE, "LEI of the entity providing ICT services", ("c0031", LINK),
    ),
    _template(
        "B_04.01", "Entities making use of the ICT services",
        REFERENCE, "LEI of the entity making use of the ICT service(s)",
        "Nature of the entity making use of the ICT service(s)", "Identification code of the branch",
    ),
    _template(
        "B_05.01", "ICT third-party service providers",
        PROVIDER, TYPE_OF_CODE, "Additional identification code of the ICT third-party service provider",
        "Type of additional identification code of the ICT third-party service provider",
        "Legal name of the ICT third-party service provider",
        "Name of the ICT third-party service provider in Latin alphabet",
        "Type of person of the ICT third-party service provider",
        "Country of the ICT third-party service provider's headquarters",
        "Currency of the amount reported in B_05.01.0100",
        "Total annual expense or estimated cost of the ICT third-party service provider",
        "Identification code of the ICT third-party service provider's ultimate parent undertaking",
        "Type of code to identify the ICT third-party service provider's ultimate parent undertaking",
    ),
    _template(
        "B_05.02", "ICT service supply chains",
        REFERENCE, "Type of ICT services", PROVIDER, TYPE_OF_CODE, "Rank",
        "Identification code of the recipient of sub-contracted ICT services",
        "Type of code to identify the recipient of sub-contracted ICT services",
    ),
    _template(
        "B_06.01", "Functions identification",
        "Function identifier", "Licenced activity", "Function name", "LEI of the financial entity",
        "Criticality or importance assessment", "Reasons for criticality or importance",
        "Date of the last assessment of criticality or importance", "Recovery time objective of the function",
        "Recovery point objective of the function", "Impact of discontinuing the function",
    ),
    _template(
        "B_07.01", "Assessment of the ICT services",
        REFERENCE, PROVIDER, TYPE_OF_CODE, "Type of ICT services",
        "Substitutability of the ICT third-party service provider",
        "Reason if the ICT third-party service provider is considered not substitutable or difficult to substitute",
        "Date of the last audit on the ICT third-party service provider", "Existence of an exit plan",
        "Possibility of reintegration of the contracted ICT service", "Impact of discontinuing the ICT services",
        "Are there alternative ICT third-party service providers identified?",
        "Identification of alternative providers",
    ),
    _template(
        "B_99.01", "Definitions from entities making use of the ICT services",
        "Standalone arrangement", "Overarching arrangement", "Subsequent or associated arrangement",
        "Sensitiveness: low", "Sensitiveness: medium", "Sensitiveness: high",
        "Impact of discontinuing the function: low", "Impact of discontinuing the function: medium",
        "Impact of discontinuing the function: high", "Not substitutable", "Highly complex substitutability",
        "Medium complexity in terms of substitutability", "Easily substitutable", "Reintegration: easy",
        "Reintegration: difficult", "Reintegration: highly complex", "Impact of discontinuing the services: low",
        "Impact of discontinuing the services: medium", "Impact of discontinuing the services: high",
    ),
)  # fmt: skip
