import assert from 'node:assert/strict';
import { readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { identify } from '../../src/base/node/process-identity.ts';
import { EmbeddedCluster } from './harness.ts';

const configMap = (n: number) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `c${n}`, namespace: 'default' } });
const manifests = (first: number, count: number) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'List', items: Array.from({ length: count }, (_, n) => configMap(first + n)) });

test('a store that lost its end is noticed, named, and brought back as far as it goes', async () => {
  await using cluster = await EmbeddedCluster.start();
  const wal = join(cluster.home, 'store.db-wal');
  const revisionBeside = () => JSON.parse(readFileSync(join(cluster.home, 'store.json'), 'utf8')).revision as number;
  await cluster.must('kubectl', ['create', '-f', '-'], { input: manifests(0, 20) });
  const bytes = statSync(wal).size;
  await cluster.must('kubectl', ['create', '-f', '-'], { input: manifests(20, 20) });
  const newest = Number(await cluster.field('configmap', 'c39', '.metadata.resourceVersion'));
  while (revisionBeside() < newest) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.match((await cluster.virtctl(['doctor', '--store'])).stdout, /✓ store .*records are whole/);

  const pid = cluster.pid();
  process.kill(pid, 'SIGKILL');
  while (identify(pid)) await new Promise((resolve) => setTimeout(resolve, 20));
  truncateSync(wal, bytes);
  const refused = await cluster.virtctl(['up']);
  assert.match(refused.stderr, /STORE_DAMAGED.*it ends at revision \d+, and had come to \d+; all is well up to revision \d+.*--salvage/s);
  assert.match((await cluster.virtctl(['doctor', '--store'])).stdout, /✗ store .*it ends at revision/);

  await cluster.must('virtctl', ['restore', '--salvage']);
  await cluster.must('virtctl', ['up']);
  const names = await cluster.must('kubectl', ['get', 'configmaps', '-o', 'name']);
  for (let n = 0; n < 20; n += 1) assert.match(names, new RegExp(`configmap/c${n}\n`));
  assert.ok(Number(await cluster.field('namespace', 'default', '.metadata.resourceVersion')) > 0);
  await cluster.must('kubectl', ['create', 'configmap', 'later']);
  assert.ok(
    Number(await cluster.field('configmap', 'later', '.metadata.resourceVersion')) > newest,
    'no version number is given out twice',
  );
});
