// A second program beside `kontor sync actual`: makes files, reads them from the server, edits them as a user would.
// node actual_console.mjs FOLDER SERVER COMMAND [JSON]; the last line of the output is the result.
import { createRequire } from 'node:module';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, server, command, text] = process.argv.slice(2);
const options = text ? JSON.parse(text) : {};
const password = 'actual';
const say = console.log;
console.log = console.info = console.warn = () => {};
const api = await import(pathToFileURL(createRequire(join(folder, 'package.json')).resolve('@actual-app/api')));

async function main() {
  if (command === 'bootstrap') {
    const answer = await fetch(`${server}/account/bootstrap`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ password }),
    });
    return answer.json();
  }
  const lib = await api.init({ dataDir: mkdtempSync(join(folder, 'console-')), serverURL: server, password });
  if (command === 'make') {
    await api.runImport(options.name, async () => {});
    if (options.filePassword) {
      const made = await lib.send('key-make', { password: options.filePassword });
      if (made?.error) throw new Error(JSON.stringify(made));
    }
    await api.sync();
    const files = await api.getBudgets();
    return files.find(file => file.name === options.name && file.state === 'remote').groupId;
  }
  await api.downloadBudget(options.file, options.filePassword ? { password: options.filePassword } : {});
  if (command === 'update') {
    const category = options.category && (await api.getCategories()).find(each => each.name === options.category).id;
    await api.updateTransaction(options.id, { ...options.fields, ...(category ? { category } : {}) });
  }
  if (command === 'delete') await api.deleteTransaction(options.id);
  const fields = ['id', 'imported_id', 'account.name', 'date', 'amount', 'payee.name', 'category.name', 'notes', 'cleared'];
  const { data } = await api.aqlQuery(api.q('transactions').filter({}).select(fields));
  return { accounts: await api.getAccounts(), transactions: data };
}

try {
  const result = await main();
  await api.shutdown();
  say(JSON.stringify(result));
  process.exit(0);
} catch (error) {
  console.error(error);
  process.exit(1);
}
