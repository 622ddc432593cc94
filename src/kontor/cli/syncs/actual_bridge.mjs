// Calls Actual's own API for `kontor sync actual`: one JSON object per line in, one per line out.
// node actual_bridge.mjs FOLDER, where FOLDER/node_modules has @actual-app/api.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

// The API talks on standard output; answers are told apart by this word.
const MARK = 'kontor-answer ';
for (const name of ['log', 'info', 'debug', 'warn', 'error']) console[name] = () => {};
process.on('unhandledRejection', () => {});

const folder = process.argv[2];
let api;

async function load() {
  const require = createRequire(join(folder, 'package.json'));
  let place;
  try {
    place = require.resolve('@actual-app/api');
  } catch {
    throw new Error('missing-api');
  }
  api = await import(pathToFileURL(place));
}

const dead = filter => api.aqlQuery(api.q('transactions').filter(filter).select(['id', 'imported_id', 'tombstone']).withDead());

const calls = {
  async open({ server, password, file, filePassword }) {
    await load();
    await api.init({ dataDir: join(folder, 'budget'), serverURL: server, password });
    await api.downloadBudget(file, filePassword ? { password: filePassword } : {});
  },
  accounts: () => api.getAccounts(),
  createAccount: ({ name, offbudget }) => api.createAccount({ name, offbudget }, 0),
  groups: () => api.getCategoryGroups(),
  createGroup: ({ name }) => api.createCategoryGroup({ name }),
  createCategory: ({ name, group, isIncome }) => api.createCategory({ name, group_id: group, is_income: isIncome }),
  payees: () => api.getPayees(),
  createPayee: ({ name }) => api.createPayee({ name }),
  async find({ ids }) {
    const fields = ['id', 'imported_id', 'account', 'date', 'amount', 'category', 'payee.name', 'notes', 'cleared'];
    const query = api.q('transactions').filter({ imported_id: { $oneof: ids } }).select(fields);
    return (await api.aqlQuery(query.options({ splits: 'grouped' }))).data;
  },
  used: async ({ ids }) => (await dead({ imported_id: { $oneof: ids } })).data,
  add: ({ account, transactions }) => api.addTransactions(account, transactions, { runTransfers: false }),
  update: ({ id, fields }) => api.updateTransaction(id, fields),
  remove: ({ id }) => api.deleteTransaction(id),
  sync: () => api.sync(),
  async balance({ account }) {
    const query = api.q('transactions').filter({ account, cleared: true }).calculate({ $sum: '$amount' });
    return (await api.aqlQuery(query)).data;
  },
  close: () => api?.shutdown(),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { call, ...args } = JSON.parse(line);
  let answer;
  try {
    answer = { result: (await calls[call](args)) ?? null };
  } catch (error) {
    answer = { error: String(error?.message ?? error), reason: String(error?.reason ?? '') };
  }
  process.stdout.write(`\n${MARK}${JSON.stringify(answer)}\n`);
  if (call === 'close') break;
}
process.exit(0);
