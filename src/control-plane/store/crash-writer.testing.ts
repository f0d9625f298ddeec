/** A process that writes as fast as it can and prints every acknowledged write, until somebody kills it. */
import { openStore } from './store.ts';

const [path = '', round = '0'] = process.argv.slice(2);
const store = openStore({ path, historySize: 50 });
process.stdout.write(`open ${store.revision}\n`);

async function writer(lane: number): Promise<void> {
  for (let i = 0; ; i += 1) {
    const key = `core/configmaps/default/${round}-${lane}-${i % 40}`;
    const { revision } = await store.write({ key, value: { round, lane, i, padding: 'x'.repeat(500) } });
    process.stdout.write(`ack ${revision} ${key} ${i}\n`);
  }
}

await Promise.all([writer(0), writer(1), writer(2)]);
