"""Business partners as the tree shows them: brands from the hand-written files and from the built table."""

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

from kontor.analysis.tagging.folding import fold
from kontor.analysis.tagging.taggings import NO_PARTNER

# Numbers of partners begin where no hand-given one is, and fit into 31 bits.
FIRST_ID, ID_SPAN = 1_000_000, 2_000_000_000
UNKNOWN_ID = 1


@dataclass(frozen=True, slots=True)
class Partner:
    """`category` is what people pay there; `income` what money from it is; `is_built` marks the generated table.
    `kinds` are the general names of an organisation that exists once per city."""

    system_name: str
    system_id: int
    name: str
    aliases: tuple[str, ...] = ()
    category: str = ""
    income: str = ""
    insurance_type: str = ""
    freelancer_category: str = ""
    group: str = ""
    website: str = ""
    creditor_ids: tuple[str, ...] = ()
    street: str = ""
    zip_code: str = ""
    city: str = ""
    country: str = ""
    phone: str = ""
    is_intermediary: bool = False
    is_built: bool = False
    kinds: tuple[str, ...] = ()

    @property
    def own_names(self) -> tuple[str, ...]:
        """The display name and all others of its own, without the marks of the files."""
        return (self.name, *(alias.removeprefix("=") for alias in self.aliases if alias != "!"), *self.kinds)

    @property
    def names(self) -> tuple[str, ...]:
        """All names it goes by: its own, and that of the group whose brand it is."""
        return (*self.own_names, self.group) if self.group else self.own_names


def make_system_name(name: str) -> str:
    """Upper-case ASCII of a display name: HUK_COBURG, STADTWERKE_MUENCHEN, H_UND_M."""
    return fold(name.replace("+", " plus ")).replace("&", "und").upper().replace(" ", "_")


def number_partner(system_name: str) -> int:
    """The same number for the same name, whatever else is in the table."""
    digest = blake2b(system_name.encode(), digest_size=8).digest()
    return FIRST_ID + int.from_bytes(digest, "big") % ID_SPAN


def read_partner(line: str, is_built: bool = False) -> Partner:
    """One line `Display name | aliases | CATEGORY | options`."""
    fields = [field.strip() for field in line.split("|")]
    fields += [""] * (4 - len(fields))
    name, aliases, category, rest = fields[:4]
    options: dict[str, str] = {}
    for part in rest.split(";"):
        key, _, value = part.partition("=")
        options[key.strip()] = value.strip()
    system_name = make_system_name(name)
    return Partner(
        system_name=system_name,
        system_id=number_partner(system_name),
        name=name,
        aliases=tuple(alias.strip() for alias in aliases.split(";") if alias.strip()),
        category=category,
        income=options.get("income", ""),
        insurance_type=options.get("insurance", ""),
        freelancer_category=options.get("freelancer", ""),
        group=options.get("group", ""),
        website=options.get("web", ""),
        creditor_ids=tuple(entry.strip() for entry in options.get("creditor", "").split(",") if entry.strip()),
        street=options.get("street", ""),
        zip_code=options.get("zip", ""),
        city=options.get("city", ""),
        country=options.get("country", ""),
        phone=options.get("phone", ""),
        is_intermediary=options.get("intermediary", "") == "yes",
        is_built=is_built,
        kinds=tuple(kind.strip() for kind in options.get("kinds", "").split(",") if kind.strip()),
    )


def list_lines(file: Traversable) -> Iterable[str]:
    """The facts of a knowledge file: lines that are neither empty nor comments."""
    for line in file.read_text(encoding="utf-8").splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield stripped


def list_files(folder: Traversable) -> list[Traversable]:
    if not folder.is_dir():
        return []
    return sorted((entry for entry in folder.iterdir() if entry.name.endswith(".txt")), key=lambda entry: entry.name)


def read_partners() -> tuple[Partner, ...]:
    """All partners by system name, without `UNKNOWN`. A line written by hand wins over a built one of the same name,
    but takes the aliases of further lines."""
    data = files("kontor.analysis") / "data"
    by_name: dict[str, Partner] = {}
    sources = [(entry, False) for entry in list_files(data / "partners")]
    # The built table may lie beside the hand-written ones.
    sources = [(entry, "nsi" in entry.name) for entry, _ in sources]
    built = data / "partners_nsi.txt"
    if built.is_file():
        sources.append((built, True))
    for entry, is_built in sorted(sources, key=lambda source: source[1]):
        for line in list_lines(entry):
            partner = read_partner(line, is_built)
            if partner.system_name and partner.system_name != NO_PARTNER:
                by_name.setdefault(partner.system_name, partner)
    return tuple(by_name[name] for name in sorted(by_name))
