import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { TestRegistry } from '../../../../images/registry.testing.ts';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

test('a disk goes to a registry, and no cluster is needed', async (t) => {
  await using registry = await TestRegistry.start();
  const folder = mkdtempSync(join(tmpdir(), 'push-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'disk.raw');
  writeFileSync(path, Buffer.alloc(2 ** 20, 'disk'));
  const { deps, stdout, stderr } = testDeps({}, { home: join(folder, 'never'), env: { DOCKER_CONFIG: folder } });
  await run(deps, { plainHttp: true }, path, `${registry.host}/team/disk:1`);
  assert.match(stdout(), new RegExp(`^${registry.host}/team/disk:1 pushed, [0-9a-f]{12}\n$`));
  assert.deepEqual([[...registry.manifests.keys()], stderr()], [['team/disk:1'], '']);
});

test('what is neither a file nor an image is said before anything is sent', async () => {
  const { deps } = testDeps();
  await assert.rejects(run(deps, { plainHttp: false }, 'nobody', 'registry.example.com/disk'), { code: 'SOURCE_MISSING', exitCode: 3 });
});
