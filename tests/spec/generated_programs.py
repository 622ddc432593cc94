"""One program for each generator of clients: a token, an access, transactions with categories, contracts. No casts."""

# How each is told where the service is and who calls; the same for all programs in TypeScript.
GIVEN = """
export function given(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is missing`);
  return value;
}
"""

OPENAPI_FETCH = """
import createClient from "openapi-fetch";
import type { components, paths } from "./api";
import { given } from "./given";

type Status = components["schemas"]["BankAccessStatus"];

async function main(): Promise<void> {
  const api = createClient<paths>({ baseUrl: given("BASE") });
  const token = await api.POST("/auth/oauth2/token", {
    body: { grant_type: "password", username: given("USERNAME"), password: given("PASSWORD") },
    headers: { Authorization: `Basic ${given("LOGIN")}`, "Content-Type": "application/x-www-form-urlencoded" },
  });
  if (!token.data) throw new Error(JSON.stringify(token.error));
  const headers = { Authorization: `Bearer ${token.data.access_token}` };

  const access = { "access-id": given("ACCESS") };
  const found = await api.GET("/customer/v2/bankzugaenge/{access-id}", { params: { path: access }, headers });
  if (!found.data) throw new Error(JSON.stringify(found.error));
  const status: Status = found.data.status;
  console.log("access", status);

  const giro = found.data.bankprodukte?.find((product) => product.kategorie === "GIROKONTO");
  const path = { ...access, "product-id": giro?.id ?? "none" };
  const rows = await api.GET("/customer/v2/bankzugaenge/{access-id}/{product-id}/kontoumsaetze", {
    params: { path, query: { limit: 5, tag: "categories" } },
    headers,
  });
  for (const row of rows.data ?? []) console.log("row", row.betrag, row.tags?.[0]?.tagTreeItem.systemName);
  console.log("next", rows.response.headers.get("link") !== null);

  const contracts = await api.GET("/customer/v2/ai/contracts", { headers });
  for (const { details } of contracts.data ?? []) console.log("contract", details.amountLatest, details.status);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
"""

HEY_API = """
import { given } from "./given";
import { issueToken, listContracts, listTransactions, readAccess } from "./hey";
import type { BankAccessStatus } from "./hey";
import { client } from "./hey/client.gen";

async function main(): Promise<void> {
  let bearer = "";
  client.setConfig({
    baseUrl: given("BASE"),
    auth: ({ scheme }) => (scheme === "basic" ? `${given("CLIENT")}:${given("SECRET")}` : bearer),
  });
  const token = await issueToken({
    body: { grant_type: "password", username: given("USERNAME"), password: given("PASSWORD") },
    throwOnError: true,
  });
  bearer = token.data.access_token;

  const access = { "access-id": given("ACCESS") };
  const found = await readAccess({ path: access });
  if (found.data === undefined) throw new Error(JSON.stringify(found.error));
  const status: BankAccessStatus = found.data.status;
  console.log("access", status);

  const giro = found.data.bankprodukte?.find((product) => product.kategorie === "GIROKONTO");
  const rows = await listTransactions({
    path: { ...access, "product-id": giro?.id ?? "none" },
    query: { limit: 5, tag: "categories" },
    throwOnError: true,
  });
  for (const row of rows.data) console.log("row", row.betrag, row.tags?.[0]?.tagTreeItem.systemName);
  console.log("next", rows.response.headers.get("link") !== null);

  const contracts = await listContracts({ throwOnError: true });
  for (const { details } of contracts.data) console.log("contract", details.amountLatest, details.status);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
"""

ORVAL = """
import { given } from "./given";
import { issueToken, listContracts, listTransactions, readAccess } from "./orval/kontor";
import type { BankAccessStatus } from "./orval/kontor";

async function main(): Promise<void> {
  const token = await issueToken(
    { grant_type: "password", username: given("USERNAME"), password: given("PASSWORD") },
    { headers: { Authorization: `Basic ${given("LOGIN")}` } },
  );
  if (token.status !== 200) throw new Error(JSON.stringify(token.data));
  const options = { headers: { Authorization: `Bearer ${token.data.access_token}` } };

  const found = await readAccess(given("ACCESS"), options);
  if (found.status !== 200) throw new Error(JSON.stringify(found.data));
  const status: BankAccessStatus = found.data.status;
  console.log("access", status);

  const giro = found.data.bankprodukte?.find((product) => product.kategorie === "GIROKONTO");
  const product = giro?.id ?? "none";
  const rows = await listTransactions(given("ACCESS"), product, { limit: 5, tag: "categories" }, options);
  if (rows.status !== 200) throw new Error(JSON.stringify(rows.data));
  for (const row of rows.data) console.log("row", row.betrag, row.tags?.[0]?.tagTreeItem.systemName);
  console.log("next", rows.headers.get("link") !== null);

  const contracts = await listContracts(undefined, options);
  if (contracts.status !== 200) throw new Error(JSON.stringify(contracts.data));
  for (const { details } of contracts.data) console.log("contract", details.amountLatest, details.status);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
"""

PYTHON = """
import os

from kontor_api_client import AuthenticatedClient
from kontor_api_client.api.customer import list_contracts, list_transactions, read_access
from kontor_api_client.api.tokens import issue_token
from kontor_api_client.models import BankAccess, BankAccessStatus, ProductCategory, TagChoice
from kontor_api_client.models import GrantType, Token, TokenForm

base, access_id = os.environ["BASE"], os.environ["ACCESS"]
form = TokenForm(GrantType.PASSWORD, username=os.environ["USERNAME"], password=os.environ["PASSWORD"])
login = AuthenticatedClient(base_url=base, token=os.environ["LOGIN"], prefix="Basic")
token = issue_token.sync(client=login, body=form)
assert isinstance(token, Token)

with AuthenticatedClient(base_url=base, token=token.access_token) as client:
    access = read_access.sync(access_id, client=client)
    assert isinstance(access, BankAccess)
    status: BankAccessStatus = access.status
    print("access", status)

    giro = next(product for product in access.bankprodukte or [] if product.kategorie is ProductCategory.GIROKONTO)
    rows = list_transactions.sync_detailed(access_id, str(giro.id), client=client, limit=5, tag=TagChoice.CATEGORIES)
    assert isinstance(rows.parsed, list)
    for row in rows.parsed:
        print("row", row.betrag, row.tags[0].tag_tree_item.system_name if row.tags else "")
    print("next", "link" in rows.headers)

    contracts = list_contracts.sync(client=client)
    assert isinstance(contracts, list)
    for contract in contracts:
        print("contract", contract.details.amount_latest, contract.details.status)
"""
