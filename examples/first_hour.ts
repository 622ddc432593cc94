// The first hour with Kontor: create a user, add the demo bank, list transactions with categories, print contracts.
// Plain fetch, no packages. Start `./dev demo`, then with Node 23.6 or newer: node examples/first_hour.ts .kontor/demo.json
// (older ones: npx tsx examples/first_hour.ts .kontor/demo.json). Types of the whole API: docs/guides/clients.md.

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

type Login = { username: string; password: string };
type Tenant = { name: string; adminClient: Login; userClient: Login };
type Relation = { rel: string; href: string };
type Product = { kategorie: string; saldo?: number; waehrung?: string; bezeichnung: string; relations: Relation[] };
type Access = { status: string; bankprodukte?: Product[] };
type Item = { systemName: string; displayName: string };
type Transaction = { buchungsdatum: string; betrag: number; verwendungszweck?: string; tags: { tagTreeItem: Item }[] };
type Contract = { details: { amountLatest: number; counterpartyName: string }; tagTreeItemPeriod: Item };

const path = process.argv[2];
if (path === undefined) throw new Error("give the path of demo.json");
const demo = JSON.parse(readFileSync(path, "utf8")) as { baseUrl: string; tenants: [Tenant] };
const [tenant] = demo.tenants;
const base64 = (text: string): string => Buffer.from(text).toString("base64");

async function call(address: string, options: RequestInit = {}): Promise<Response> {
  const answer = await fetch(address.startsWith("/") ? demo.baseUrl + address : address, options);
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return answer;
}

async function logIn(client: Login, form: Record<string, string>): Promise<{ Authorization: string }> {
  const answer = await call("/auth/oauth2/token", {
    method: "POST",
    headers: { Authorization: `Basic ${base64(`${client.username}:${client.password}`)}` },
    body: new URLSearchParams(form),
  });
  return { Authorization: `Bearer ${((await answer.json()) as { access_token: string }).access_token}` };
}

// A function, since not every runner knows `await` outside of functions.
async function main(): Promise<void> {
  // The tenant's admin client creates a user.
  const user: Login = { username: `first-hour-${randomUUID()}`, password: randomUUID() };
  const manage = await logIn(tenant.adminClient, { grant_type: "client_credentials" });
  await call(`/auth/mgmt/v1/tenants/${tenant.name}/users`, {
    method: "POST",
    headers: { ...manage, "Content-Type": "application/json" },
    body: JSON.stringify(user),
  });
  console.log("user", user.username);

  // The user logs in through the tenant's app, and adds a bank.
  const headers = await logIn(tenant.userClient, { grant_type: "password", ...user });

  async function encrypt(text: string): Promise<string> {
    const type = "application/octet-stream+base64";
    const options = { method: "PUT", headers: { ...headers, "Content-Type": type }, body: base64(text) };
    return (await call("/encrypt", options)).text();
  }

  const credentials = { userid: await encrypt("student"), pin: await encrypt("demo") };
  await call("/customer/v2/bankzugaenge", {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body: JSON.stringify({ "my-bank": { providerId: "00000000-0000-0000-0000-000000000000", credentials } }),
  });

  async function read<T>(address: string): Promise<T> {
    return (await (await call(address, { headers })).json()) as T;
  }

  let access = await read<Access>("/customer/v2/bankzugaenge/my-bank");
  while (access.status !== "VOLLSTAENDIG") {
    await sleep(500);
    access = await read<Access>("/customer/v2/bankzugaenge/my-bank");
  }
  const products = access.bankprodukte ?? [];
  for (const product of products) console.log(product.kategorie, product.saldo, product.waehrung, product.bezeichnung);

  // Every object says where more is.
  const giro = products.find((product) => product.kategorie === "GIROKONTO");
  const listing = giro?.relations.find((relation) => relation.rel === "get_kontoumsaetze");
  if (listing === undefined) throw new Error("there is no checking account");
  for (const transaction of await read<Transaction[]>(`${listing.href}?limit=5&tag=categories`)) {
    const category = transaction.tags[0]?.tagTreeItem.systemName;
    console.log(transaction.buchungsdatum.slice(0, 10), transaction.betrag, category, transaction.verwendungszweck ?? "");
  }
  for (const { details, tagTreeItemPeriod } of await read<Contract[]>("/customer/v2/ai/contracts")) {
    console.log("contract", details.amountLatest, tagTreeItemPeriod.displayName, details.counterpartyName);
  }
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
