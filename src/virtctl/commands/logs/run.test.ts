import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { vm, vmi } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { logPath } from '../../embedded/paths.ts';
import { run } from './run.ts';

const BASE = 'GET /apis/kubevirt.io/v1/namespaces/default';
const FLAGS = { follow: false, previous: false, system: false };

/** A guest that has printed this. */
function printed(...chunks: string[]) {
  async function* output() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  return async () => ({ output: output(), write() {}, takeOver() {}, close() {} });
}

test('what a running guest printed, or the last lines of it', async () => {
  const answers = { [`${BASE}/virtualmachineinstances/db`]: vmi('Running') };
  const said = async (flags: object) => {
    const { deps, stdout } = testDeps(answers, { openConsole: printed('one\r\ntwo\r\nth', 'ree\r\n') });
    await run(deps, { ...FLAGS, ...flags }, 'db');
    return stdout();
  };
  assert.equal(await said({}), 'one\ntwo\nthree\n');
  assert.equal(await said({ tail: 1 }), 'three\n');
});

test('what it printed in the run before', async () => {
  const path = 'GET /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db/logs?previous=true';
  const { deps, stdout } = testDeps({ [path]: new Response('old\r\nolder\r\n') });
  await run(deps, { ...FLAGS, previous: true, tail: 1 }, 'db');
  assert.equal(stdout(), 'older\n');
  await assert.rejects(run(deps, { ...FLAGS, previous: true, follow: true }, 'db'), { code: 'USAGE' });
});

test('a machine that does not run prints nothing, and one that is not there is not found', async () => {
  const { deps } = testDeps({ [`${BASE}/virtualmachines/db`]: vm('Halted', { printableStatus: 'Stopped' }) });
  await assert.rejects(run(deps, FLAGS, 'db'), { code: 'VM_NOT_RUNNING', why: 'it is Stopped', exitCode: 4 });
  await assert.rejects(run(testDeps().deps, FLAGS, 'db'), { reason: 'NotFound' });
  await assert.rejects(run(deps, FLAGS), { code: 'USAGE' });
});

test('--system is the log of the embedded cluster', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'logs-'));
  t.after(() => rmSync(home, { recursive: true }));
  const { deps, stdout } = testDeps({}, { home });
  await assert.rejects(run(deps, { ...FLAGS, system: true }), { code: 'NOT_SET_UP', exitCode: 3 });
  mkdirSync(dirname(logPath(home)), { recursive: true });
  writeFileSync(logPath(home), 'first\nsecond\n');
  await run(deps, { ...FLAGS, system: true, tail: 1 });
  assert.equal(stdout(), 'second\n');
  await assert.rejects(run(deps, { ...FLAGS, system: true }, 'db'), { code: 'USAGE' });
});
