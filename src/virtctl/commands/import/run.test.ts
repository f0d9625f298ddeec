import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { vm } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { MachineFileWriter } from '../../export/machine-file.ts';
import { run } from './run.ts';

const VM = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';
const REACHED = { 'GET /version': {} };
const CLAIM = '/api/v1/namespaces/default/persistentvolumeclaims/disk';

async function machineFile(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'machine-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'db.tar');
  const file = await open(path, 'w');
  const writer = new MachineFileWriter(file);
  const { metadata, spec } = vm('Halted');
  await writer.machine({ metadata: { name: metadata.name }, spec });
  async function* disk() {
    yield { packed: gzipSync(Buffer.alloc(4096, 'x')), totalBytes: 4096 };
  }
  await writer.disk('disk', disk());
  await writer.end();
  await file.close();
  return path;
}

test('what is there is not replaced, and nothing is made beside it', async (t) => {
  const path = await machineFile(t);
  const taken: readonly Readonly<Record<string, object>>[] = [
    { [`GET ${VM}/db`]: vm('Halted') },
    { [`GET ${CLAIM}`]: { metadata: { name: 'disk' } } },
  ];
  for (const there of taken) {
    const { deps, requests } = testDeps({ ...REACHED, ...there });
    await assert.rejects(run(deps, { forceBind: false }, path), { code: 'NAME_TAKEN' });
    assert.deepEqual(
      requests.filter(([request]) => !request.startsWith('GET')),
      [],
    );
  }
});

test('a file that is none is refused before the cluster is asked more than whether it is there', async (t) => {
  const path = await machineFile(t);
  writeFileSync(path, 'no machine');
  const { deps, requests } = testDeps(REACHED);
  await assert.rejects(run(deps, { forceBind: false }, path), { code: 'FILE_DAMAGED' });
  await assert.rejects(run(deps, { forceBind: false }, '/nonexistent/db.tar'), { code: 'FILE_MISSING' });
  assert.deepEqual(
    requests.map(([request]) => request),
    ['GET /version', 'GET /version'],
  );
});
