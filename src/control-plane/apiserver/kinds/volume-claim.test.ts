import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from '../test-server.testing.ts';

const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';

test('a claim may ask for more, and for no less than it has', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const send = async (method: string, path: string, body: object) => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await fetch(path, { method, body: JSON.stringify(body), headers: { 'content-type': type } });
    const { message, details } = (await response.json()) as { message?: string; details?: { causes?: { field: string }[] } };
    return [response.status, details?.causes?.[0]?.field ?? message];
  };
  const asking = (storage: string) => ({ spec: { resources: { requests: { storage } } } });
  const { spec } = asking('2Gi');
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 'a' },
    spec: { accessModes: ['ReadWriteOnce'], ...spec },
  };
  assert.deepEqual(await send('POST', CLAIMS, claim), [201, undefined]);
  const bound = { status: { phase: 'Bound', capacity: { storage: '2Gi' } } };
  assert.deepEqual(await send('PATCH', `${CLAIMS}/a/status`, bound), [200, undefined]);
  assert.deepEqual(await send('PATCH', `${CLAIMS}/a`, asking('4Gi')), [200, undefined]);
  assert.deepEqual(await send('PATCH', `${CLAIMS}/a`, asking('3Gi')), [200, undefined]); // what nobody has given yet can be taken back
  assert.deepEqual(await send('PATCH', `${CLAIMS}/a`, asking('1Gi')), [422, 'spec.resources.requests.storage']);
});
