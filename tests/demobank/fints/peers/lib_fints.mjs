// Reads accounts, balances, transactions and depots with lib-fints, and prints them as one JSON object.
// Arguments: folder of the package, address, login, first day, TAN (empty where none is expected).
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const [folder, url, login, from, tan] = process.argv.slice(2);
const { FinTSClient, FinTSConfig } = await import(pathToFileURL(path.join(folder, 'node_modules/lib-fints/dist/index.js')));

const challenges = [];
const config = FinTSConfig.forFirstTimeUse('KONTORTEST', '1.0', url, '99999999', login, 'demo');
const client = new FinTSClient(config);

// Carries a call on until no TAN is asked for any more.
async function settle(response, goOn) {
  for (let polls = 0; response.requiresTan && polls < 10; polls++) {
    challenges.push({ text: response.tanChallenge, photo: response.tanPhoto?.mimeType ?? null });
    response = await goOn(response.tanReference, tan || undefined);
  }
  if (!response.success) {
    throw new Error(JSON.stringify(response.bankAnswers));
  }
  return response;
}

let first = await client.synchronize();
if (!first.success) {
  console.log(JSON.stringify({ error: first.bankAnswers }));
  process.exit(0);
}
const methods = config.availableTanMethods.map((one) => one.id);
client.selectTanMethod(methods[0]);
await settle(await client.synchronize(), (ref, answer) => client.synchronizeWithTan(ref, answer));

const accounts = [];
for (const one of config.bankingInformation.upd.bankAccounts) {
  const shown = { number: one.accountNumber, iban: one.iban ?? null, product: one.product, isSepa: one.isSepaAccount };
  if (client.canGetPortfolio(one.accountNumber)) {
    const depot = await client.getPortfolio(one.accountNumber);
    shown.holdings = depot.portfolioStatement.holdings.map((held) => [held.isin, held.amount ?? null, held.value ?? null]);
    shown.total = depot.portfolioStatement.totalValue;
  } else {
    const balance = await settle(await client.getAccountBalance(one.accountNumber), () => null);
    shown.balance = balance.balance.balance;
    for (const [name, prefersCamt] of [['mt940', false], ['camt', true]]) {
      const rows = await settle(
        await client.getAccountStatements(one.accountNumber, new Date(from), undefined, prefersCamt),
        (ref, answer) => client.getAccountStatementsWithTan(ref, answer),
      );
      const found = (rows.statements ?? []).flatMap((statement) => statement.transactions);
      shown[name] = found.map((row) => [row.entryDate?.toISOString?.().slice(0, 10), row.amount, row.remoteName ?? null]);
    }
    if (client.canGetCreditCardStatements(one.accountNumber)) {
      const card = await settle(await client.getCreditCardStatements(one.accountNumber, new Date(from)), () => null);
      shown.card = card.statements.map((row) => [row.transactionDate.toISOString().slice(0, 10), row.amount, row.purpose]);
      shown.cardBalance = card.balance.balance;
    }
  }
  accounts.push(shown);
}
console.log(JSON.stringify({ url: config.bankingUrl, methods, challenges, accounts }));
