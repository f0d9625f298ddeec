import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vmi } from '../../../testing/builders.ts';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const DNS = '/api/v1/namespaces/kube-system/services/kube-dns';
const SERVICES = 'GET /api/v1/namespaces/default/services';
const VMIS = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances';

function dns(said?: string) {
  const annotations = said === undefined ? {} : { 'kubevirt.io/host-addresses': said };
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'kube-dns', namespace: 'kube-system', annotations },
    spec: { clusterIP: '10.96.0.10' },
  };
}
const WEB = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', namespace: 'default' }, spec: { clusterIP: '10.96.1.1' } };
const LISTS = {
  [SERVICES]: { metadata: {}, items: [WEB] },
  [VMIS]: { metadata: {}, items: [vmi('Running', { interfaces: [{ ipAddress: '10.244.0.9' }] })] },
};

test('names, addresses and where to ask', async () => {
  const { deps, stdout } = testDeps({ [`GET ${DNS}`]: dns(), ...LISTS });
  await run(deps, {});
  assert.match(
    stdout(),
    /^NAME +ADDRESS\ndb\.default\.vm\.cluster\.local +10\.244\.0\.9\nweb\.default\.svc\.cluster\.local +10\.96\.1\.1\n/,
  );
  assert.match(stdout(), /name server: 10\.96\.0\.10\nsearched for short names: default\.svc\.cluster\.local /);
  assert.match(stdout(), /from this machine: virtctl dns --host /);
});

test('--host makes a NodePort of it and says where it is', async () => {
  const said = dns('53:30053/UDP=127.0.0.1:30054,53:30053/TCP=127.0.0.1:30054');
  const { deps, stdout, requests } = testDeps({ [`GET ${DNS}`]: dns(), [`PATCH ${DNS}`]: said, ...LISTS });
  await run(deps, { host: true });
  assert.match(stdout(), /from this machine: dig @127\.0\.0\.1 -p 30054 NAME/);
  assert.equal(
    requests.some(([request]) => request.startsWith('PATCH')),
    true,
  );
});

test('a cluster without one says so', async () => {
  const { deps } = testDeps({ [`GET ${DNS}`]: status('NotFound', 'no'), ...LISTS });
  await assert.rejects(run(deps, {}), { code: 'DNS_MISSING' });
});
