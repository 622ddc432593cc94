"""Every address that is sent out. All begin with the configured base address, whatever the request's Host said.

A relation is offered only where the operation behind it is served: no href leads nowhere.
"""

from collections.abc import Collection, Iterable
from urllib.parse import quote, urlencode
from uuid import UUID

from kontor.domain.payments import PaymentKind
from kontor.domain.schedules import StandingAction
from kontor.wire.management_urls import ManagementUrls
from kontor.wire.relations import Relation

PAYMENT_PATHS = {
    PaymentKind.BULK: "bulk-transfer",
    PaymentKind.STANDING_ORDER: "standing-order",
    PaymentKind.DIRECT_DEBIT: "direct-debit",
}


class Urls(ManagementUrls):
    def __init__(self, base_url: str, operation_ids: Iterable[str] = ()) -> None:
        super().__init__(base_url)
        self._served = frozenset(operation_ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Urls) and (self.base, self._served) == (other.base, other._served)

    def __hash__(self) -> int:
        """Equal ones are one key of caches: in compute processes each call brings its own."""
        return hash(self.base)

    # Advisers

    @property
    def disclosures(self) -> str:
        return f"{self.customer}/freigaben"

    def disclosure_relations(self, disclosure_id: UUID) -> list[Relation]:
        here = f"{self.disclosures}/{disclosure_id}"
        return self._offer(
            ("self", here, "read_disclosure"),
            ("delete_freigabe", here, "withdraw_disclosure"),
            ("get_zugriffe", f"{here}/zugriffe", "list_disclosure_reads"),
        )

    def adviser_relations(self, user_id: UUID, analyses: Iterable[str]) -> list[Relation]:
        customers = f"{self.base}/adviser/v2/kunden"
        found = [Relation("get_" + name.replace("-", "_"), f"{customers}/{user_id}/{name}/") for name in analyses]
        return [Relation("self", customers), *found]

    # Permissions

    @property
    def permissions(self) -> str:
        return f"{self.customer}/berechtigungen"

    def permission_relations(self, permission_id: UUID, access_id: str | None) -> list[Relation]:
        """Without `access_id` it has ended."""
        here = f"{self.permissions}/{permission_id}"
        if access_id is None:
            return [Relation("self", here)]
        return self._offer(
            ("self", here, "read_permission"),
            ("delete_berechtigung", here, "withdraw_permission"),
            ("get_bankzugang", self.access(access_id), "read_access"),
        )

    # Direct debits that can be returned

    def debit_relations(self, debit_id: str, *, can_be_returned: bool) -> list[Relation]:
        here = f"{self.customer}/lastschriften/{debit_id}"
        relations = self._offer(("self", here, "read_returnable_debit"))
        letter = ("get_rueckgabe", f"{here}/rueckgabe", "write_debit_return_letter")
        return [*relations, *self._offer(letter)] if can_be_returned else relations

    # Payees

    def payee_relations(self, payee_id: UUID) -> list[Relation]:
        return self._offer(("self", f"{self.customer}/zahlungsempfaenger/{payee_id}", "read_payee"))

    # Credit files

    @property
    def credit_files(self) -> str:
        return f"{self.customer}/ai/credit-files"

    def credit_file_relations(self, file_id: UUID, predecessor_id: UUID | None) -> list[Relation]:
        named = [("self", file_id)] + ([("get_vorgaenger", predecessor_id)] if predecessor_id else [])
        return self._offer(*((rel, f"{self.credit_files}/{name}", "read_credit_file") for rel, name in named))

    def credit_review_relations(self, file_id: UUID, *, is_requested: bool, shows_bookings: bool) -> list[Relation]:
        here = f"{self.base}/adviser/v2/credit-files/{file_id}"
        asked = [("get_review_request", f"{here}/review-request", "read_review_request")] if is_requested else []
        review = ("add_review", f"{self.credit_files}/{file_id}/reviews", "review_credit_file")
        bookings = ("get_transactions", f"{here}/transactions", "list_credit_file_transactions")
        shown = [bookings] if shows_bookings else []
        return self._offer(("self", here, "read_customer_credit_file"), *shown, *asked, review)

    # Providers

    def provider(self, provider_id: UUID) -> str:
        return f"{self.base}/providers/v2/{provider_id}"

    def provider_relations(self, provider_id: UUID) -> list[Relation]:
        return [
            Relation("self", self.provider(provider_id)),
            Relation("logo", f"{self.provider(provider_id)}/logo"),
        ]

    # Customers

    @property
    def customer(self) -> str:
        return f"{self.base}/customer/v2"

    @property
    def accesses(self) -> str:
        return f"{self.customer}/bankzugaenge"

    def access(self, access_id: str) -> str:
        return f"{self.accesses}/{access_id}"

    def product(self, access_id: str, product_id: UUID) -> str:
        return f"{self.access(access_id)}/{product_id}"

    def transactions(self, access_id: str, product_id: UUID) -> str:
        return f"{self.product(access_id, product_id)}/kontoumsaetze"

    @property
    def all_transactions(self) -> str:
        return f"{self.customer}/kontoumsaetze"

    def transaction_edit(self, edit_id: UUID) -> str:
        return f"{self.all_transactions}/bearbeitungen/{edit_id}"

    @property
    def budgets(self) -> str:
        return f"{self.customer}/budgets"

    def budget(self, budget_id: UUID) -> str:
        return f"{self.budgets}/{budget_id}"

    @property
    def savings_goals(self) -> str:
        return f"{self.customer}/sparziele"

    def savings_goal(self, goal_id: UUID) -> str:
        return f"{self.savings_goals}/{goal_id}"

    @property
    def alerts(self) -> str:
        return f"{self.customer}/hinweise"

    def alert_relations(self, alert_id: UUID) -> list[Relation]:
        return [Relation("self", f"{self.alerts}/{alert_id}")]

    def push_subscription(self, subscription_id: UUID) -> str:
        return f"{self.alerts}/push/{subscription_id}"

    @property
    def imports(self) -> str:
        return f"{self.customer}/imports"

    def import_result(self, import_id: UUID) -> str:
        return f"{self.imports}/{import_id}"

    def import_form(self, name: str) -> str:
        return f"{self.imports}/forms/{quote(name, safe='')}"

    def import_relations(self, import_id: UUID) -> list[Relation]:
        return [Relation("self", self.import_result(import_id))]

    def import_form_relations(self, name: str) -> list[Relation]:
        return [Relation("self", self.import_form(name))]

    def customer_relations(self, *, can_check_credit: bool, can_modify: bool) -> list[Relation]:
        analyses = f"{self.customer}/ai"
        relations = self._offer(
            ("self", self.customer, "read_customer"),
            ("get_bankzugaenge", self.accesses, "list_accesses"),
            ("add_bankzugaenge", self.accesses, "add_accesses"),
            ("delete_bankzugaenge", self.accesses, "delete_accesses"),
            ("get_kontoumsaetze", self.all_transactions, "list_all_transactions"),
            (
                "get_kontoumsaetze_aenderungen",
                f"{self.all_transactions}/aenderungen",
                "list_all_transaction_changes",
            ),
            ("get_vollstaendigkeit", self.completeness, "list_completeness"),
            ("get_hinweise", self.alerts, "list_alerts"),
            ("get_freigaben", self.disclosures, "list_disclosures"),
            ("get_berechtigungen", self.permissions, "list_permissions"),
            ("get_contracts", f"{analyses}/contracts/", "list_contracts"),
            ("get_cashflow", f"{analyses}/cashflow/", "read_cashflow"),
            ("get_disposable_money", f"{analyses}/disposable-money/", "read_disposable_money"),
            ("get_life_events", f"{analyses}/life-events/", "list_life_events"),
            ("get_life_stages", f"{analyses}/life-stages/", "list_life_stages"),
            ("get_sales_triggers", f"{analyses}/sales-triggers/", "list_sales_triggers"),
            ("get_budgets", self.budgets, "list_budgets"),
            ("get_sparziele", self.savings_goals, "list_savings_goals"),
        )
        if can_modify:
            relations += self._offer(("add_import", self.imports, "add_import"))
        if can_check_credit:
            relations += self._offer(
                ("get_affordability", f"{analyses}/affordability/", "read_affordability"),
                ("get_credit_check", f"{analyses}/credit-check/", "read_credit_check"),
                ("get_credit_files", self.credit_files, "list_credit_files"),
            )
        return relations

    @property
    def completeness(self) -> str:
        return f"{self.customer}/vollstaendigkeit"

    def completeness_relations(self, access_id: str, product_id: UUID) -> list[Relation]:
        return self._offer(
            ("self", self.completeness, "list_completeness"),
            ("get_bankprodukt", self.product(access_id, product_id), "read_product"),
            ("get_kontoumsaetze", self.transactions(access_id, product_id), "list_transactions"),
        )

    def access_relations(self, access_id: str, *, needs_sca: bool) -> list[Relation]:
        here = self.access(access_id)
        relations = self._offer(
            ("self", here, "read_access"),
            ("delete_bankzugang", here, "delete_access"),
            ("get_issues", f"{here}/issues", "read_issues"),
        )
        if needs_sca:
            relations += self._offer(("start_sca", f"{here}/consent", "start_consent"))
        return relations

    def webform(self, session: str, use_case: str) -> str:
        return f"{self.customer}/webform?{urlencode({'session': session, 'useCase': use_case})}"

    def form_session(self, session_id: UUID) -> str:
        return f"{self.customer}/regprotect/sessions/{session_id}"

    def consent(self, consent_id: UUID) -> str:
        return f"{self.customer}/consent/{consent_id}"

    def consent_relations(
        self, consent_id: UUID, access_id: str, next_steps: tuple[str, ...], redirect_url: str | None
    ) -> list[Relation]:
        """`next_steps` are the names of the relations that the open step offers."""
        here = self.consent(consent_id)
        addresses = {"poll": f"{here}/poll", "cancel": f"{here}/cancel", "get_bankzugang": self.access(access_id)}
        relations = [Relation("self", here)]
        for name in next_steps:
            href = redirect_url if name == "redirect_url" else addresses.get(name, here)
            assert href is not None
            relations.append(Relation(name, href))
        return relations

    # Tags

    @property
    def trees(self) -> str:
        return f"{self.base}/tags/v1/tag-trees/"

    def tree(self, tree_id: int) -> str:
        return f"{self.trees}{tree_id}/"

    def tree_relations(self, tree_id: int) -> list[Relation]:
        here = self.tree(tree_id)
        return [
            Relation("self", here),
            Relation("tag_trees", self.trees),
            Relation("tag_tree_items", f"{here}tag-tree-items/"),
        ]

    def item_relations(self, tree_id: int, item_id: int) -> list[Relation]:
        return [
            Relation("self", f"{self.tree(tree_id)}tag-tree-items/{item_id}/"),
            *self.instance_relations(tree_id, item_id),
        ]

    def instance_relations(self, tree_id: int, item_id: int, suffix: str = "") -> list[Relation]:
        """To the tree and the item of a tag. `suffix` tells apart the several tags of a contract."""
        here = self.tree(tree_id)
        items = f"{here}tag-tree-items/"
        relations = [] if suffix else [Relation("tag_trees", self.trees)]
        return [
            *relations,
            Relation(f"tag_tree{suffix}", here),
            Relation(f"tag_tree_items{suffix}", items),
            Relation(f"tag_tree_item{suffix}", f"{items}{item_id}/"),
        ]

    def own_category(self, system_id: int) -> str:
        return f"{self.customer}/ai/categories/{system_id}"

    @property
    def tagging_rules(self) -> str:
        return f"{self.customer}/ai/tagging-rules/"

    def tagging_rule(self, rule_id: UUID) -> str:
        return f"{self.tagging_rules}{rule_id}"

    # Products

    # Payments

    def transfer(self, payment_id: UUID, kind: PaymentKind) -> str:
        return f"{self.customer}/payment/{PAYMENT_PATHS.get(kind, 'single-transfer')}/{payment_id}"

    def legacy_transfer(self, provider_id: UUID, product_id: UUID, payment_id: UUID) -> str:
        return f"{self.customer}/ueberweisung/{provider_id}/{product_id}/{payment_id}"

    def transfer_relations(
        self, payment_id: UUID, next_steps: tuple[str, ...], redirect_url: str | None, kind: PaymentKind
    ) -> list[Relation]:
        """`next_steps` are the names of the relations that the open step offers."""
        here = self.transfer(payment_id, kind)
        addresses = {"poll": f"{here}/poll", "cancel": f"{here}/cancel", "confirm_vop": f"{here}/confirm-vop"}
        relations = [Relation("self", here)]
        for name in next_steps:
            href = redirect_url if name == "redirect_url" else addresses.get(name, here)
            assert href is not None
            relations.append(Relation(name, href))
        return relations

    def product_relations(
        self,
        access_id: str,
        product_id: UUID,
        provider_id: UUID,
        *,
        is_depot: bool,
        has_credentials: bool,
        can_transfer: bool,
        can_bulk_transfer: bool,
        standing_order_actions: Collection[StandingAction] = (),
        can_collect: bool = False,
    ) -> list[Relation]:
        """Payments need stored credentials, but for the legacy form, which brings its own."""
        here = self.product(access_id, product_id)
        relations = self._offer(("self", here, "read_product"))
        if is_depot:
            return relations + self._offer(("get_depotpositionen", f"{here}/depotpositionen", "list_positions"))
        listing = f"{here}/kontoumsaetze"
        relations += self._offer(
            ("get_kontoumsaetze", listing, "list_transactions"),
            ("get_kontoumsaetze_tagged", f"{listing}?tag=true", "list_tag_trees"),
            ("get_kontoumsaetze_insurances", f"{listing}?tag=insurances", "list_tag_trees"),
            ("get_kontoumsaetze_business_partners", f"{listing}?tag=business-partners", "list_tag_trees"),
            ("get_kontoumsaetze_aenderungen", f"{listing}/aenderungen", "list_transaction_changes"),
            ("get_kontoauszuege", f"{here}/kontoauszuege", "list_account_statements"),
        )
        if can_transfer:
            legacy = f"{self.customer}/ueberweisung/{provider_id}/{product_id}"
            relations += self._offer(("start_ueberweisung", legacy, "start_legacy_transfer"))
        if not has_credentials:
            return relations
        if can_transfer:
            relations += self._offer(
                ("initiate_single_transfer", f"{here}/payment/single-transfer", "initiate_single_transfer")
            )
        if can_bulk_transfer:
            relations += self._offer(
                ("initiate_bulk_transfer", f"{here}/payment/bulk-transfer", "initiate_bulk_transfer")
            )
        standing = f"{here}/payment/standing-order"
        if standing_order_actions:
            relations += self._offer(("get_standing_orders", standing, "list_standing_orders"))
        if StandingAction.CREATE in standing_order_actions:
            relations += self._offer(("initiate_standing_order", standing, "initiate_standing_order"))
        if can_collect:
            relations += self._offer(("initiate_direct_debit", f"{here}/payment/direct-debit", "initiate_direct_debit"))
        return relations

    def standing_order_relations(
        self, access_id: str, product_id: UUID, order_id: UUID, actions: Collection[StandingAction]
    ) -> list[Relation]:
        """`actions` are what the bank can do with this order now."""
        here = f"{self.product(access_id, product_id)}/payment/standing-order/{order_id}"
        relations = self._offer(("self", here, "read_standing_order"))
        if StandingAction.CHANGE in actions:
            relations += self._offer(("change_standing_order", here, "change_standing_order"))
        if StandingAction.DELETE in actions:
            relations += self._offer(("delete_standing_order", here, "delete_standing_order"))
        return relations

    def _offer(self, *relations: tuple[str, str, str]) -> list[Relation]:
        return [Relation(rel, href) for rel, href, operation_id in relations if operation_id in self._served]
