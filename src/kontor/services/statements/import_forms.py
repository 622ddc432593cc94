"""CSV forms that users describe themselves."""

from kontor.connectors.statements.csv_profiles import load_profiles
from kontor.domain.errors import InvalidError, NotFoundError
from kontor.domain.import_forms import MAX_FORMS, ImportForm, check_form_name
from kontor.domain.principals import Principal, user_of
from kontor.services.security import auditing
from kontor.storage import imports
from kontor.storage.data_versions import lock_data
from kontor.storage.database import Connection, Database
from kontor.storage.retries import retry_conflicts


class ImportForms:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_forms(self, principal: Principal) -> list[ImportForm]:
        async with self._database.connect(principal.user_id) as connection:
            return await imports.list_forms(connection, user_of(principal))

    async def read_form(self, principal: Principal, name: str) -> ImportForm:
        form = next((form for form in await self.list_forms(principal) if form.name == name), None)
        if form is None:
            raise NotFoundError
        return form

    @retry_conflicts
    async def store_form(self, principal: Principal, form: ImportForm) -> None:
        """A form of the same name is replaced."""
        check_form_name(form.name)
        if any(profile.key == form.name for profile in load_profiles()):
            raise InvalidError("is the name of a form that Kontor has", "name")
        user_id = user_of(principal)
        async with self._database.transaction(principal.user_id) as connection:
            await lock_data(connection, user_id)  # the limit holds for calls at the same time, too
            others = [stored for stored in await imports.list_forms(connection, user_id) if stored.name != form.name]
            if len(others) >= MAX_FORMS:
                raise InvalidError(f"a user has at most {MAX_FORMS} forms", "name")
            await imports.upsert_form(connection, user_id, form)
            await self._record(connection, principal, "import-form.store")

    @retry_conflicts
    async def delete_form(self, principal: Principal, name: str) -> None:
        async with self._database.transaction(principal.user_id) as connection:
            if not await imports.delete_form(connection, user_of(principal), name):
                raise NotFoundError
            await self._record(connection, principal, "import-form.delete")

    @staticmethod
    async def _record(connection: Connection, principal: Principal, action: str) -> None:
        """Without the name, which the user chose: the trail outlives the user."""
        subject = f"user {principal.user_pseudonym} import form"
        await auditing.record(connection, principal.tenant_id, auditing.name_actor(principal), action, subject)
