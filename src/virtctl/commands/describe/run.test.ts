import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { vm } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { diskLines } from '../../ls/disk-lines.ts';
import { run } from './run.ts';

const BASE = 'GET /apis/kubevirt.io/v1/namespaces/default';
const empty = { metadata: {}, items: [] };

test('one machine: what ls shows of it, its disks, and why it is as it is', async () => {
  const { deps, stdout } = testDeps({
    [`${BASE}/virtualmachines/db`]: vm('Halted', { printableStatus: 'Stopped' }),
    'GET /api/v1/nodes': empty,
    'GET /api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Ddb': empty,
  });
  await run(deps, {}, 'vm', 'db');
  const said = stdout();
  assert.match(said, /^Namespace: {2}default\nName: {7}db\nStatus: {5}Stopped\n/);
  assert.match(said, /\nDisk: {7}\S+: image localhost\/guests\/tiny:latest, changes are lost when it stops\n/);
  assert.match(said, /\nState: {6}db is stopped.*\n/);
  assert.match(said, /\nFix: {8}virtctl start db\n$/);
});

test('lines go on beneath their text on a narrow terminal', async () => {
  const screen = Object.assign(new PassThrough(), { isTTY: true, columns: 60 });
  const { deps } = testDeps(
    {
      [`${BASE}/virtualmachines/db`]: vm('Halted', { printableStatus: 'Stopped' }),
      'GET /api/v1/nodes': empty,
      'GET /api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Ddb': empty,
    },
    { stdout: screen },
  );
  await run(deps, {}, 'db');
  assert.match(String(screen.read()), /\nDisk: {7}\S+: image localhost\/guests\/tiny:latest,\n {12}changes are lost when it stops\n/);
});

test('a folder that it shares is named by its path', () => {
  const annotations = { 'kubevirt.io/shared-folder': '/home/me/src' };
  const claim: PersistentVolumeClaim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'db-mount0', annotations },
    spec: {},
  };
  assert.deepEqual(diskLines([{ name: 'mount0', persistentVolumeClaim: { claimName: 'db-mount0' } }], [claim]), [
    'mount0: folder /home/me/src of the host',
  ]);
});

test('a machine that is not there is not found', async () => {
  const { deps } = testDeps({ 'GET /api/v1/nodes': empty });
  await assert.rejects(run(deps, {}, 'nobody'), { reason: 'NotFound' });
});
