"""Strong customer authentication: where a consent or a transfer stands, and what it asks."""

from kontor_client.errors import Message
from kontor_client.models.shapes import Linked, Model


class ScaMethod(Model):
    code: int
    name: str
    hint: str = ""


class ScaMedium(Model, rename={"medium_class": "mediaClass"}):
    name: str
    medium_class: str


class ChallengeContent(Model, rename={"hhd": "HHD", "hhd_uc": "HHDUC"}):
    """`photo` is an image in Base64, `hhd` and `hhd_uc` are flicker codes."""

    instructions: str
    hhd: str | None = None
    hhd_uc: str | None = None
    photo: str | None = None


class Challenge(Model, rename={"is_decoupled": "decoupled", "is_redirect": "redirect"}):
    name: str
    content: ChallengeContent
    is_decoupled: bool = False
    is_redirect: bool = False


SCA_NAMES = {"methods": "scaMethods", "media": "scaMediums"}


class ScaStatus(Linked, kw_only=True, rename=SCA_NAMES):
    """What consents and transfers have in common. The relations say which answer fits."""

    messages: list[Message] = []
    methods: list[ScaMethod] = []
    media: list[ScaMedium] = []
    challenge: Challenge | None = None

    @property
    def code(self) -> str | None:
        """The state's own code; that of a wrong TAN stands before it."""
        return self.messages[-1].code if self.messages else None

    @property
    def is_tan_wrong(self) -> bool:
        return any(message.code == "BA1103" for message in self.messages)


class ConsentStatus(ScaStatus, kw_only=True, rename=SCA_NAMES):
    """Where a consent stands."""

    @property
    def is_given(self) -> bool:
        return self.code == "BA3050"
