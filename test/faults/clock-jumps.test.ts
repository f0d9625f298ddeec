/**
 * The clock of a machine is set, by an hour, forward or back, while everything runs, or a process is stopped for a while: nothing expires by the
 * dozen, and nothing waits for the hour.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NODES, type Node } from '../../src/api/core/node.ts';
import { ANNOTATION_HEARTBEAT, LABEL_SCHEDULABLE } from '../../src/api/kubevirt/names.ts';
import { silentLogger } from '../../src/base/log.ts';
import { ensurePki } from '../../src/base/node/pki.ts';
import { ensureSigningKey } from '../../src/base/node/signing-key.ts';
import { readWatermark } from '../../src/base/node/store-watermark.ts';
import { Pulse } from '../../src/base/pulse.ts';
import { timestamp } from '../../src/base/timestamp.ts';
import { runLeader } from '../../src/client/leader-election.ts';
import { startTestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';
import { keepStore } from '../../src/control-plane/store/keep-store.ts';
import { temporaryStore } from '../../src/control-plane/store/temporary-store.testing.ts';
import { KeyedQueue } from '../../src/reconcile/queue.ts';
import { FakeClock } from '../../src/testing/fake-clock.ts';
import { handFedCache } from '../../src/testing/hand-fed-cache.ts';
import { quiet, until } from '../../src/testing/until.ts';
import { heardNodes } from '../../src/virt-controller/heard-nodes.ts';
import { decideNode } from '../../src/virt-controller/node/decide.ts';
import { heartbeatAtOf, isStale } from '../../src/virt-controller/node-heartbeat.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const JUMPS = [
  { way: 'forward', ms: HOUR_MS },
  { way: 'back', ms: -HOUR_MS },
];

for (const { way, ms } of JUMPS) {
  test(`an hour ${way}: a node that beats is heard of, and one that stops is lost after five minutes`, () => {
    const { clock, beat, pass, lost } = oneNode();
    beat();
    pass(MINUTE_MS);
    beat();
    clock.jump(ms);
    assert.deepEqual(lost(), [false, 0], 'right after it');
    pass(MINUTE_MS);
    beat();
    assert.deepEqual(lost(), [false, 0], 'after the next beat');
    clock.jump(-ms);
    assert.deepEqual(lost(), [false, 0], 'when it is put right');
    pass(5 * MINUTE_MS + 1_000);
    assert.deepEqual(lost(), [true, 1], 'after a silence');
  });

  test(`an hour ${way}: how far the store has come is written down a second later, as always`, async (t) => {
    const { store, path, close } = temporaryStore();
    const clock = new FakeClock();
    const stop = new AbortController();
    const ended = keepStore({ store, backupsDir: join(dirname(path), 'backups'), clock, log: silentLogger, signal: stop.signal });
    t.after(async () => {
      stop.abort();
      await ended;
      close();
    });
    const { revision } = await store.write({ key: 'core/configmaps/default/a', value: {} });
    clock.jump(ms);
    let seconds = 0;
    await until(async () => {
      clock.advance(1_000);
      seconds += 1;
      return readWatermark(path)?.revision === revision;
    }, 'the mark');
    assert.ok(seconds < HOUR_MS / 1_000, `${seconds} s`);
  });

  test(`an hour ${way}: who leads goes on, and nobody else begins`, async (t) => {
    const clock = new FakeClock();
    const { client, close } = await startTestServer({ clock });
    t.after(close);
    const leading = ['a', 'b'].map((identity) => candidate(t, { client, clock, identity }));
    await until(async () => leading.some((each) => each.count === 1), 'a leader');
    await seconds(clock, 20);
    clock.jump(ms);
    await seconds(clock, 60);
    assert.deepEqual(leading.map(({ count }) => count).sort(), [0, 1]);
  });

  test(`an hour ${way}: what is due in seconds is due in seconds`, async (t) => {
    const clock = new FakeClock();
    const stop = new AbortController();
    t.after(() => stop.abort());
    const queue = new KeyedQueue({ clock, signal: stop.signal });
    queue.addAfter('a', 30_000);
    clock.jump(ms);
    queue.addAfter('a', 5_000); // earlier than it was, whatever the clock says
    const taken = queue.take();
    clock.advance(5_000);
    assert.equal(await taken, 'a');
  });

  test(`an hour ${way}: a token and the certificates are as good as before`, async (t) => {
    const clock = new FakeClock(Date.now());
    const folder = mkdtempSync(join(tmpdir(), 'clock-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const { fetch, server, close } = await startTestServer({ clock, signingKey: await ensureSigningKey(folder) });
    t.after(close);
    const account = '/api/v1/namespaces/default/serviceaccounts';
    const headers = { 'content-type': 'application/json' };
    await fetch(account, { method: 'POST', headers, body: JSON.stringify({ metadata: { name: 'clock' } }) });
    const body = JSON.stringify({ spec: { expirationSeconds: 7_200 } });
    const { status } = await (await fetch(`${account}/clock/token`, { method: 'POST', headers, body })).json();
    const before = await ensurePki(join(folder, 'pki'), clock);
    clock.jump(ms);
    assert.equal(server.reviewToken(status.token)?.user, 'system:serviceaccount:default:clock');
    assert.deepEqual(await ensurePki(join(folder, 'pki'), clock), before, 'none is made anew');
  });
}

for (const beatsBefore of [1, 2]) {
  test(`stopped for an hour, after ${beatsBefore} beats: a node is heard of, and lost after five minutes in which we could have heard it`, () => {
    const { clock, beat, pass, lost } = oneNode();
    for (let count = 0; count < beatsBefore; count += 1) {
      beat();
      pass(MINUTE_MS);
    }
    clock.advance(HOUR_MS); // as nobody does who is awake
    assert.deepEqual(lost(), [false, 0], 'right after it');
    pass(4 * MINUTE_MS);
    assert.deepEqual(lost(), [false, 0], 'while it may still beat');
    pass(MINUTE_MS + 1_000);
    assert.deepEqual(lost(), [true, 1], 'after a silence');
  });
}

/** A node that beats when it is told to, and what virt-controller thinks of it. */
function oneNode() {
  const clock = new FakeClock();
  const pulse = new Pulse(clock);
  const fed = handFedCache<Node>(NODES);
  const nodes = heardNodes(fed, { clock, pulse });
  let beats = 0;
  return {
    clock,
    beat: () => fed.put(nodeThatBeatAt(clock.now(), String(++beats))),
    /** Time in which we are awake. */
    pass(ms: number) {
      for (let left = ms; left > 0; left -= 1_000) {
        clock.advance(1_000);
        pulse.awakeSince();
      }
    },
    /** Whether guests there are lost, and what is done to the node. */
    lost: () => {
      const { actions } = decideNode({ node: nodes.get('a')!, now: clock.now() }); // it is there: it beat
      return [isStale(heartbeatAtOf(nodes, 'a'), clock.now()), actions.length];
    },
  };
}

function nodeThatBeatAt(ms: number, resourceVersion: string): Node {
  const labels = { [LABEL_SCHEDULABLE]: 'true' };
  const annotations = { [ANNOTATION_HEARTBEAT]: timestamp(ms) };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', resourceVersion, labels, annotations } };
}

type Shared = Pick<Parameters<typeof runLeader>[0], 'client' | 'clock' | 'identity'>;

/** How often it began to lead. */
function candidate(t: TestContext, shared: Shared): { readonly count: number } {
  const stop = new AbortController();
  const seen = { count: 0 };
  const ended = runLeader({
    ...shared,
    log: silentLogger,
    signal: stop.signal,
    namespace: 'default',
    name: 'clock',
    lead: async (signal) => {
      seen.count += 1;
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    },
  });
  t.after(async () => {
    stop.abort();
    await ended.catch(() => {}); // that it lost the lease is seen by the count of the other
  });
  return seen;
}

async function seconds(clock: FakeClock, count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) {
    clock.advance(1_000);
    await quiet();
  }
}
