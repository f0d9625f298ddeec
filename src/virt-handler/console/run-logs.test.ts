import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { RunLogs } from './run-logs.ts';

test('the last run is told, three are kept, and other machines have none', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(folder, { recursive: true }));
  const logs = new RunLogs(join(folder, 'guests'));
  assert.equal(await logs.last('vm-1'), undefined);
  for (const endedAtMs of [1, 2, 30, 4]) await logs.keep('vm-1', { endedAtMs, printed: Buffer.from(`run ${endedAtMs}`) });
  assert.deepEqual(await logs.last('vm-1'), { endedAtMs: 30, printed: Buffer.from('run 30') });
  assert.deepEqual((await readdir(join(folder, 'guests', 'vm-1'))).sort(), ['2.log', '30.log', '4.log']);
  assert.equal(await logs.last('vm-2'), undefined);
});

test('a uid that is a path leads nowhere, and silence is not kept', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'kubevirt-ts-'));
  t.after(() => rm(folder, { recursive: true }));
  const logs = new RunLogs(join(folder, 'guests'));
  await logs.keep('../elsewhere', { endedAtMs: 1, printed: Buffer.from('x') });
  await logs.keep('vm-1', { endedAtMs: 1, printed: Buffer.alloc(0) });
  assert.deepEqual([await readdir(folder), await logs.last('../elsewhere'), await logs.last('vm-1')], [[], undefined, undefined]);
});
