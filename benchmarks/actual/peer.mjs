// Actual's client from npm, driven over standard input: node peer.mjs FOLDER SERVER
// Each line is a command as JSON; its answer is a line of JSON with the processor time that this process took for it.
import { createRequire } from 'node:module';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const [folder, server] = process.argv.slice(2);
const password = 'actual';
const say = console.log;
console.log = console.info = console.warn = () => {};
const api = await import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve('@actual-app/api')));
let account;

// The server closes idle connections after five seconds, and the client learns of it from the request that fails.
async function sync() {
  await api.sync().catch(() => api.sync());
}

const commands = {
  async bootstrap() {
    await fetch(`${server}/account/bootstrap`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ password }),
    });
    await api.init({ dataDir: mkdtempSync(join(folder, 'client-')), serverURL: server, password });
  },
  // A new file, whose first account has warmed up the code before the second is measured.
  async make({ name, file }) {
    await api.runImport(name, async () => {});
    account = await api.createAccount({ name: 'Warm-up' }, 0);
    for (const _ of [1, 2]) await commands.import({ file });
    await commands.list();
    account = await api.createAccount({ name: 'Girokonto' }, 0);
    await sync();
  },
  async import({ file }) {
    const result = await api.importTransactions(account, JSON.parse(readFileSync(file)));
    if (result.errors?.length) throw new Error(JSON.stringify(result.errors));
    await sync();
    return { added: result.added.length, updated: result.updated.length };
  },
  async list() {
    return { count: (await api.getTransactions(account, '1970-01-01', '2099-12-31')).length };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { command, ...options } = JSON.parse(line);
  const before = process.cpuUsage();
  try {
    const result = await commands[command](options);
    const { user, system } = process.cpuUsage(before);
    say(JSON.stringify({ ...result, seconds: (user + system) / 1e6 }));
  } catch (error) {
    say(JSON.stringify({ error: String(error?.stack ?? error) }));
  }
}
await api.shutdown();
process.exit(0);
