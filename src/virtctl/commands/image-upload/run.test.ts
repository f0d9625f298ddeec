import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const CLAIM = '/api/v1/namespaces/default/persistentvolumeclaims/disk';
const DATA_VOLUME = '/apis/cdi.kubevirt.io/v1beta1/namespaces/default/datavolumes/disk';
const flags = { imagePath: import.meta.filename, noCreate: false, forceBind: false, insecure: false };
const claim = (annotations: object) => ({ metadata: { namespace: 'default', name: 'disk', annotations }, spec: {} });

test('what cannot be sent, or not there, is refused before anything is made', async () => {
  const refused = async (more: Record<string, object>, change: object, kind = 'dv') => {
    const { deps, requests } = testDeps(more);
    await assert.rejects(run(deps, { ...flags, ...change }, kind, 'disk'), (error: { code: string; fix?: string; message: string }) => {
      told.push(`${error.code}: ${error.message}`);
      return error.fix !== undefined;
    });
    assert.deepEqual(
      requests.filter(([request]) => !request.startsWith('GET')),
      [],
    );
  };
  const told: string[] = [];
  await refused({}, {}, 'vm');
  await refused({}, { imagePath: '/nonexistent/disk.img' });
  await refused({}, {});
  await refused({}, { size: '512' });
  await refused({}, { size: '900Ti' });
  await refused({ [`GET ${CLAIM}`]: claim({ 'cdi.kubevirt.io/storage.pod.phase': 'Succeeded' }) }, {});
  await refused({ [`GET ${CLAIM}`]: claim({}) }, {});
  assert.deepEqual(told, [
    'USAGE: vm is not dv or pvc',
    'FILE_MISSING: /nonexistent/disk.img is no file',
    'USAGE: DataVolume disk is to be made, and nobody says how large',
    'USAGE: --size 512 is 512 bytes',
    'USAGE: --size 900Ti is too large',
    'NOT_FOR_UPLOAD: nothing was sent to disk',
    'NOT_FOR_UPLOAD: nothing was sent to disk',
  ]);
});

test('a DataVolume whose disk comes from somewhere else is left alone', async () => {
  const { deps } = testDeps({ [`GET ${DATA_VOLUME}`]: { metadata: { name: 'disk' }, spec: { source: { blank: {} } } } });
  await assert.rejects(run(deps, flags, 'dv', 'disk'), { code: 'NOT_FOR_UPLOAD', why: 'its disk comes from somewhere else' });
});
