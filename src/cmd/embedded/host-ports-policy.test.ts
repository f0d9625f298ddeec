import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { ANNOTATION_HOST_PORT } from '../../api/kubevirt/names.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { createAdmission } from '../../control-plane/apiserver/admission/create-admission.ts';
import { createApiServer } from '../../control-plane/apiserver/create-api-server.ts';
import { temporaryStore } from '../../control-plane/store/temporary-store.testing.ts';

const SERVICES = '/api/v1/namespaces/default/services';
const ADMIN = { user: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };
const TENANT = { user: 'tenant', groups: ['system:authenticated'] };
const ROLES = '/apis/rbac.authorization.k8s.io/v1';

test('only administrators choose the port of the host that leads to a Service; others may change the rest of it', async (t) => {
  const { store, close } = temporaryStore();
  const admission = createAdmission({ store, resolveService: async () => undefined, exemptUsers: [], log: silentLogger });
  const server = await createApiServer({ store, clock: systemClock, log: silentLogger, hooks: { admission } });
  t.after(() => {
    admission.close();
    server.close();
    close();
  });
  const send = async (method: string, path: string, body: object, identity = ADMIN) => {
    const headers = { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' };
    const request = new Request(new URL(path, 'https://k'), { method, headers, body: JSON.stringify(body) });
    const response = await server.handle(request, identity);
    return { status: response.status, message: ((await response.json()) as { message?: string }).message ?? '' };
  };
  for (const document of parseAllDocuments(readFileSync(new URL('manifests/host-ports.yaml', import.meta.url), 'utf8'))) {
    const object = document.toJS();
    const plural = object.kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings';
    assert.equal((await send('POST', `/apis/admissionregistration.k8s.io/v1/${plural}`, object)).status, 201);
  }
  const role = { metadata: { name: 'services' }, rules: [{ apiGroups: [''], resources: ['services'], verbs: ['*'] }] };
  await send('POST', `${ROLES}/clusterroles`, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', ...role });
  await send('POST', `${ROLES}/clusterrolebindings`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: 'services' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'services' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'tenant' }],
  });
  const service = (name: string, annotations?: object) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, ...(annotations && { annotations }) },
    spec: { type: 'NodePort', selector: { a: 'b' }, ports: [{ port: 80 }] },
  });
  const chosen = (port: string | null) => ({ metadata: { annotations: { [ANNOTATION_HOST_PORT]: port } } });
  assert.equal((await send('POST', SERVICES, service('plain'), TENANT)).status, 201);
  const refused = [
    await send('POST', SERVICES, service('mine', { [ANNOTATION_HOST_PORT]: '22' }), TENANT),
    await send('PATCH', `${SERVICES}/plain`, chosen('22'), TENANT),
  ];
  assert.equal((await send('POST', SERVICES, service('given', { [ANNOTATION_HOST_PORT]: '8080' }))).status, 201);
  refused.push(await send('PATCH', `${SERVICES}/given`, chosen('22'), TENANT));
  for (const { status, message } of refused) {
    assert.equal(status, 422, message);
    assert.match(message, /only administrators of the cluster choose ports of the host/);
  }
  assert.equal((await send('PATCH', `${SERVICES}/given`, { spec: { selector: { a: 'c' } } }, TENANT)).status, 200);
  assert.equal((await send('PATCH', `${SERVICES}/given`, chosen(null), TENANT)).status, 200);
});
