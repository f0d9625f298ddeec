import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { identify } from '../../../base/node/process-identity.ts';
import { createLayout } from '../../../images/layout.ts';
import { testDeps } from '../../deps.testing.ts';
import { statePath } from '../../embedded/paths.ts';
import { run } from './run.ts';

for (const flags of [
  { port: 0 },
  { port: 99_999_999 },
  { port: 1.5 },
  { nodes: 0 },
  { nodes: 101 },
  { withoutControllers: true, demo: true },
]) {
  test(`${JSON.stringify(flags)} is refused before anything starts`, async () => {
    const { deps, stdout } = testDeps();
    await assert.rejects(run(deps, { demo: false, adopt: false, hostNetwork: false, merge: false, ...flags }), { exitCode: 2 });
    assert.equal(stdout(), '');
  });
}

/** A cluster that runs already, at port 7443, on a machine with a program that says it is QEMU. */
function running(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'up-'));
  t.after(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, 'run'));
  writeFileSync(statePath(home), JSON.stringify({ process: identify(process.pid), port: 7443, startedAt: '', version: '' }));
  const qemu = join(home, 'qemu');
  writeFileSync(qemu, '#!/bin/sh\necho "QEMU emulator version 9.9.9"\n');
  chmodSync(qemu, 0o755);
  createLayout(join(home, 'images'));
  const nodes = { metadata: {}, items: [{ metadata: { name: 'n1' }, spec: { unschedulable: true } }] };
  const env = { KUBEVIRT_QEMU: qemu, KUBEVIRT_ACCEL: 'tcg', PATH: process.env['PATH'] };
  return testDeps({ 'GET /api/v1/nodes': nodes, 'PATCH /api/v1/nodes/n1': {} }, { home, cache: home, env });
}

test('a cluster that runs keeps its port, and another one that is asked for is not ignored in silence', async (t) => {
  for (const [port, note] of [
    [80, ' (not 80: virtctl down, then up again, for another port)'],
    [7443, ''],
    [undefined, ''],
  ] as const) {
    const { deps, stdout, requests } = running(t);
    await assert.rejects(run(deps, { demo: false, adopt: false, hostNetwork: false, merge: false, ...(port !== undefined && { port }) }), {
      code: 'GUEST_IMAGE_MISSING',
    });
    const control =
      stdout()
        .split('\n')
        .find((line) => line.includes('control')) ?? '';
    assert.ok(control.includes(`https://127.0.0.1:7443${note}, data in ${deps.home}, was running`), control);
    assert.deepEqual(requests.at(-1), ['PATCH /api/v1/nodes/n1', { spec: { unschedulable: null } }]);
  }
});

test('a cluster that an older release runs is left alone, and the way to this one is said', async (t) => {
  for (const [version, note] of [
    ['v0.1.0', ' with release v0.1.0 (virtctl upgrade: v0.2.0, guests keep running)'],
    ['v0.2.0', ''],
  ] as const) {
    const { deps, stdout } = running(t);
    writeFileSync(statePath(deps.home), JSON.stringify({ process: identify(process.pid), port: 7443, startedAt: '', version }));
    await assert.rejects(run({ ...deps, version: 'v0.2.0' }, { demo: false, adopt: false, hostNetwork: false, merge: false }), {
      code: 'GUEST_IMAGE_MISSING',
    });
    assert.match(stdout().replaceAll(/\s+/g, ' '), new RegExp(`, was running${note.replaceAll(/[().]/g, '\\$&')} `));
  }
});

test('a cluster on the network of the host is a warning that says what guests do not have, and no tick', async (t) => {
  const { deps, stdout } = running(t);
  const state = { process: identify(process.pid), port: 7443, startedAt: '', version: '', network: 'host' };
  writeFileSync(statePath(deps.home), JSON.stringify(state));
  await assert.rejects(run(deps, { demo: false, adopt: false, hostNetwork: false, merge: false }), { code: 'GUEST_IMAGE_MISSING' });
  assert.match(stdout(), /^ {2}! control .*guests have no way out and do not reach each other/m);
});
