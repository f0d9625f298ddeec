import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const VM = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const EXPORTS = '/apis/export.kubevirt.io/v1/namespaces/default/virtualmachineexports';
const PIECE = 'GET /apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineexports/export-db-dump/volumes/dump/piece';
const flags = { portForward: false, output: 'dump.tar.gz' };

test('a dump that is whole is taken by an export of its PVC, which is deleted afterwards', async (t) => {
  const workingFolder = mkdtempSync(join(tmpdir(), 'dump-'));
  t.after(() => rmSync(workingFolder, { recursive: true }));
  const volumes = [{ name: 'dump', formats: [{ format: 'tar.gz', url: 'https://x' }] }];
  const exported = {
    metadata: { name: 'export-db-dump' },
    status: { phase: 'Ready', tokenSecretRef: 'key', links: { internal: { volumes } } },
  };
  const pieces = new Response(new Uint8Array(gzipSync('tar')), { headers: { etag: '"1"', 'x-kubevirt-disk-bytes': '3' } });
  const { deps, requests, stdout } = testDeps(
    {
      [VM]: { status: { memoryDumpRequest: { claimName: 'dump', phase: 'Completed' } } },
      [`POST ${EXPORTS}`]: {},
      [`GET ${EXPORTS}/export-db-dump`]: exported,
      [`DELETE ${EXPORTS}/export-db-dump`]: {},
      'GET /api/v1/namespaces/default/secrets/key': { data: { token: btoa('secret') } },
      [`${PIECE}?from=0&bytes=262144`]: pieces,
    },
    { workingFolder },
  );
  await run(deps, flags, 'db');
  assert.equal(gunzipSync(readFileSync(join(workingFolder, 'dump.tar.gz'))).toString(), 'tar');
  assert.equal(stdout(), 'dump.tar.gz has the files of dump, as tar.gz\n');
  assert.deepEqual(requests.at(-1)?.[0], `DELETE ${EXPORTS}/export-db-dump`);
});

test('without a dump there is nothing to take, and nothing is made', async () => {
  const asked = async (status: object, more: object = {}) => {
    const { deps, requests } = testDeps({ [VM]: { status } });
    await run(deps, { ...flags, ...more }, 'db').catch(
      (error) => assert.ok(requests.every(([each]) => each === VM)) ?? Promise.reject(error),
    );
  };
  await assert.rejects(asked({}), { code: 'NO_DUMP' });
  await assert.rejects(asked({ memoryDumpRequest: { claimName: 'dump', phase: 'Failed', message: 'full' } }), { why: 'full' });
  await assert.rejects(asked({}, { output: undefined }), { code: 'USAGE', message: /which file/ });
  await assert.rejects(asked({}, { format: 'vmdk' }), { code: 'USAGE', message: /vmdk is not/ });
  await assert.rejects(run(testDeps({}).deps, flags, 'db'), { reason: 'NotFound' });
});
