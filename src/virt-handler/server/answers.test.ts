import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { HANDLER_ROUTES, type HandlerRouteName } from '../../api/handler/routes.ts';
import { systemClock } from '../../base/clock.ts';
import { ApiError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { RunLogs } from '../console/run-logs.ts';
import { Screens } from '../console/screen.ts';
import { UsageHistories } from '../metrics/usage-histories.ts';
import { Domains } from '../vmi/domains.ts';
import { noSuchGuest } from '../vmi/no-such-guest.ts';
import { answersFrom } from './answers.ts';

async function emptyNode(t: TestContext, runLogs?: RunLogs) {
  const common = { clock: systemClock, log: silentLogger };
  const domains = new Domains({ ...common, kubeletRoot: '/nowhere', takesConnection: async () => undefined });
  t.after(() => domains.close());
  const network = {
    reach: async (key: string) => {
      throw noSuchGuest(key);
    },
  };
  return answersFrom({
    ...common,
    domains,
    instanceOf: () => undefined,
    network,
    screens: new Screens(),
    runLogs,
    histories: new UsageHistories(common),
    nodeProcesses: undefined,
  });
}

const OF_GUESTS = (Object.keys(HANDLER_ROUTES) as HandlerRouteName[]).filter((name) => HANDLER_ROUTES[name].path.includes(':name')); // of the table
for (const name of OF_GUESTS)
  test(`${name} of a guest that is not here is not found, in the same words as everything else`, async (t) => {
    const answers = await emptyNode(t);
    const ask = answers[name] as (asked: object) => Promise<unknown>; // whichever it is
    const parameters = { namespace: 'default', name: 'db', port: 22, protocol: 'tcp' };
    const refused = await ask({ parameters, question: { command: ['id'] } }).catch((error: unknown) => error);
    assert.ok(refused instanceof ApiError);
    assert.deepEqual([refused.reason, refused.message.replace(/^Cannot .*?: /, '')], ['NotFound', 'there is no guest default/db here']);
  });

test('the last run of a machine is told as base64, and one that is not known is not found', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(folder, { recursive: true }));
  const runLogs = new RunLogs(folder);
  await runLogs.keep('u1', { endedAtMs: 7, printed: Buffer.from('bye') });
  const { lastRun } = await emptyNode(t, runLogs);
  assert.deepEqual(await lastRun({ parameters: { uid: 'u1' }, question: {} }), { endedAtMs: 7, printed: 'Ynll' });
  await assert.rejects(lastRun({ parameters: { uid: 'u2' }, question: {} }), { reason: 'NotFound' });
});
