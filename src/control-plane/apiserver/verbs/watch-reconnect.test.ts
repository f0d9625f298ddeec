import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../test-server.testing.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const RECONNECTS = Number(process.env['WATCH_RECONNECTS'] ?? 500);

test(`a client that comes and goes ${RECONNECTS} times sees every change once, in order`, {
  timeout: 60_000 + RECONNECTS * 100,
}, async (t) => {
  const { fetch, store, close } = await startTestServer({ historySize: 20_000 });
  t.after(close);
  const changes: string[] = [];
  const stop = store.watch('core/configmaps/default/', store.revision, ({ revision, entry, previous }) => {
    changes.push(`${entry ? (previous ? 'MODIFIED' : 'ADDED') : 'DELETED'} ${revision}`);
  });
  t.after(stop);
  const from = String(store.revision);
  let isDone = false;
  const writing = writeUntil(() => isDone);

  const seen: string[] = [];
  let position = from;
  for (let i = 0; i < RECONNECTS; i += 1) {
    const gone = new AbortController();
    const response = await fetch(`${MAPS}?watch=1&resourceVersion=${position}&allowWatchBookmarks=true`, { signal: gone.signal });
    const wanted = 1 + ((i * 7) % 5);
    position = await readSome(response, { wanted, position, seen });
    gone.abort();
  }
  isDone = true;
  await writing;
  t.diagnostic(`${RECONNECTS} reconnects, ${seen.length} changes seen`);
  assert.ok(seen.length >= RECONNECTS);
  assert.deepEqual(seen, changes.slice(0, seen.length));

  async function writeUntil(isEnough: () => boolean): Promise<void> {
    for (let n = 0; !isEnough(); n += 1) {
      const key = `core/configmaps/default/m${n % 11}`;
      const value =
        n % 4 === 3 ? undefined : { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${n % 11}`, namespace: 'default' }, n };
      if (value || store.get(key)) await store.write({ key, value });
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
});

/** Reads some events and goes in the middle of whatever comes next; what was read counts, the rest comes again. */
async function readSome(response: Response, options: { wanted: number; position: string; seen: string[] }): Promise<string> {
  let { position } = options;
  let text = '';
  let read = 0;
  for await (const chunk of response.body ?? []) {
    text += Buffer.from(chunk).toString();
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) {
      const { type, object } = JSON.parse(line);
      position = object.metadata.resourceVersion;
      if (type !== 'BOOKMARK') options.seen.push(`${type} ${position}`);
      read += 1;
      if (read === options.wanted) return position;
    }
  }
  return position;
}
