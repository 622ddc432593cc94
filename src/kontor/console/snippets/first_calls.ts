const base = "http://127.0.0.1:8080";
const secrets = process.env as Record<string, string>;
const username = `user-${crypto.randomUUID()}`, password = crypto.randomUUID();
const base64 = (text: string) => Buffer.from(text).toString("base64");

type Fields = Record<string, string>;

async function call(path: string, method: string, headers: Fields, body?: string): Promise<Response> {
  const answer = await fetch(path.startsWith("http") ? path : base + path, { method, headers, body });
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return answer;
}
async function logIn(client: string, secret: string, form: Fields): Promise<Fields> {
  const type = "application/x-www-form-urlencoded";
  const headers = { Authorization: `Basic ${base64(`${client}:${secret}`)}`, "Content-Type": type };
  const answer = await call("/auth/oauth2/token", "POST", headers, new URLSearchParams(form).toString());
  return { Authorization: `Bearer ${(await answer.json()).access_token}`, "Content-Type": "application/json" };
}

// The tenant's admin client creates a user.
const admin = await logIn(secrets.KONTOR_ADMIN, secrets.KONTOR_ADMIN_SECRET, { grant_type: "client_credentials" });
const tenant = secrets.KONTOR_CLIENT.split("/")[0];
await call(`/auth/mgmt/v1/tenants/${tenant}/users`, "POST", admin, JSON.stringify({ username, password }));

// The user logs in and adds a bank. Credentials travel encrypted for the tenant.
const user = await logIn(secrets.KONTOR_CLIENT, secrets.KONTOR_SECRET, { grant_type: "password", username, password });
async function encrypt(text: string): Promise<string> {
  const headers = { ...user, "Content-Type": "application/octet-stream+base64" };
  return (await call("/encrypt", "PUT", headers, base64(text))).text();
}
const credentials = { userid: await encrypt("familie"), pin: await encrypt("demo") };
const wanted = { "my-bank": { providerId: "00000000-0000-0000-0000-000000000000", credentials } };
await call("/customer/v2/bankzugaenge", "POST", user, JSON.stringify(wanted));

// Transactions come in the background; then there they are, with their categories.
let access = await (await call("/customer/v2/bankzugaenge/my-bank", "GET", user)).json();
while (access.status !== "VOLLSTAENDIG") {
  await new Promise((resolve) => setTimeout(resolve, 500));
  access = await (await call("/customer/v2/bankzugaenge/my-bank", "GET", user)).json();
}
const list = access.bankprodukte[0].relations[0].href + "/kontoumsaetze?limit=5&tag=categories";
for (const one of await (await call(list, "GET", user)).json()) {
  const category = one.tags[0].tagTreeItem.systemName;
  console.log(one.buchungsdatum.slice(0, 10), one.betrag, category, one.verwendungszweck ?? "");
}
export {};
