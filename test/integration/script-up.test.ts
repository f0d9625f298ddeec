/** script/up in a clone: the guest that stands in for the published ones is built beside the first start, which does not wait for it. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../src/testing/until.ts';

/** A clone whose programs write down how they are called; the one that builds guests waits until somebody says so. */
function clone(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'clone-'));
  t.after(() => rmSync(folder, { recursive: true, maxRetries: 5 })); // what runs beside it writes its log
  const program = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, path), 0o755);
  };
  const note = (what: string) => `echo "${what}" >>"${folder}/calls"`;
  program('script/bootstrap', note('bootstrap'));
  program('script/node.sh', `NODE="${folder}/node"\nCACHE="${folder}/cache"`);
  program(
    'node',
    `${note('build $2')}\nfor turn in $(seq 600); do [ -e "${folder}/may-end" ] && break; sleep 0.05; done\necho /the/layout`,
  );
  program('bin/virtctl', `[ "$1" != kubeconfig ] || { echo "${folder}/kubeconfig"; exit; }\n${note('virtctl $*')}`);
  copyFileSync('script/up', join(folder, 'script/up'));
  const calls = () => (existsSync(join(folder, 'calls')) ? readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') : []);
  const up = () => spawnSync(join(folder, 'script/up'), ['--port', '7443'], { encoding: 'utf8', timeout: 60_000 });
  return { folder, calls, up };
}

const IMPORT = 'virtctl image import /the/layout localhost/guests/tiny32';

test('the first start does not wait for the small guest, and gets it when it is built', async (t) => {
  const { folder, calls, up } = clone(t);
  writeFileSync(join(folder, 'kubeconfig'), '');
  assert.deepEqual([up().status, calls().filter((call) => !call.startsWith('build'))], [0, ['bootstrap', 'virtctl up --demo --port 7443']]);
  await until(() => calls().includes('build tiny32'), 'the build to begin');
  assert.equal(calls().includes(IMPORT), false);
  writeFileSync(join(folder, 'may-end'), '');
  await until(() => calls().includes(IMPORT), 'the guest to be brought in');
});

test('a guest that is built before there is a cluster is left to that', async (t) => {
  const { folder, calls, up } = clone(t);
  writeFileSync(join(folder, 'may-end'), '');
  assert.equal(up().status, 0);
  await until(() => calls().includes('build tiny32'), 'the build to begin');
  assert.equal(calls().includes(IMPORT), false);
});
