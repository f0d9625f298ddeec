import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { identify } from '../../base/node/process-identity.ts';
import { vm } from '../../testing/builders.ts';
import { testDeps } from '../deps.testing.ts';
import { describeLost } from './lost-by-purge.ts';
import { statePath } from './paths.ts';

test('machines and disks are named, folders that guests share are not: they stay', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'lost-'));
  t.after(() => rmSync(home, { recursive: true }));
  mkdirSync(dirname(statePath(home)), { recursive: true });
  writeFileSync(statePath(home), JSON.stringify({ process: identify(process.pid), port: 6443 }));
  const spec = { resources: { requests: { storage: '1Gi' } } };
  const disk = { metadata: { namespace: 'default', name: 'web-root' }, spec };
  const folder = { metadata: { namespace: 'default', name: 'web-mount0', annotations: { 'kubevirt.io/shared-folder': '/src' } }, spec };
  const { deps } = testDeps(
    {
      'GET /apis/kubevirt.io/v1/virtualmachines': { metadata: {}, items: [vm('Always')] },
      'GET /api/v1/persistentvolumeclaims': { metadata: {}, items: [disk, folder] },
    },
    { home },
  );
  assert.match(await describeLost(deps), /:\n {2}1 VM: default\/\S+\n {2}1 disk \(PVC\): default\/web-root \(1Gi\)\n$/);
});
