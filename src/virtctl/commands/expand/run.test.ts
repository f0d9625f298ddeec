import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const EXPANDED = { kind: 'VirtualMachine', spec: { runStrategy: 'Always' } };

test('a machine of the cluster is asked for by name', async () => {
  const { deps, stdout } = testDeps({
    'GET /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachines/db/expand-spec': EXPANDED,
  });
  await run(deps, { vm: 'db', output: 'yaml' });
  assert.equal(stdout(), 'kind: VirtualMachine\nspec:\n  runStrategy: Always\n');
});

test('a manifest is sent as it is, and broken YAML is not', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'expand-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'vm.yaml');
  writeFileSync(file, 'kind: VirtualMachine\n');
  const put = 'PUT /apis/subresources.kubevirt.io/v1/namespaces/default/expand-vm-spec';
  const { deps, requests, stdout } = testDeps({ [put]: EXPANDED });
  await run(deps, { file, output: 'json' });
  assert.deepEqual([requests, JSON.parse(stdout())], [[[put, { kind: 'VirtualMachine' }]], EXPANDED]);
  writeFileSync(file, 'a: [');
  await assert.rejects(run(deps, { file, output: 'json' }), { code: 'MANIFEST_INVALID', exitCode: 2 });
});

for (const flags of [{}, { vm: 'db', file: 'vm.yaml' }]) {
  test(`${JSON.stringify(flags)} is neither one nor the other`, async () => {
    await assert.rejects(run(testDeps().deps, { ...flags, output: 'yaml' }), { code: 'USAGE', exitCode: 2 });
  });
}
