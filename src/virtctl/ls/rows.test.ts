import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../../api/core/service.ts';
import { buildClaim } from '../../sdk/manifest/claim.ts';
import { vm, vmi } from '../../testing/builders.ts';
import { vmRows } from './rows.ts';

const now = Date.parse('2026-01-01T00:05:00Z');
const running = vmi('Running', { nodeName: 'n1', interfaces: [{ ipAddress: '10.244.0.2' }] });
const stopped = vm('Halted', { printableStatus: 'Stopped' }, { name: 'cache' });
const machine = vm('Always', { printableStatus: 'Running' });

test('a line per machine, by name', () => {
  assert.deepEqual(vmRows({ vms: [machine, stopped], vmis: [running], now, isWide: false, isAcross: false }), [
    ['NAME', 'STATUS', 'AGE', 'IP', 'NODE'],
    ['cache', 'Stopped', '5m', '-', '-'],
    ['db', 'Running', '5m', '10.244.0.2', 'n1'],
  ]);
});

test('wide adds the size and the image, and all namespaces their names', () => {
  assert.deepEqual(vmRows({ vms: [machine], vmis: [], now, isWide: true, isAcross: true }), [
    ['NAMESPACE', 'NAME', 'STATUS', 'AGE', 'IP', 'NODE', 'CPUS', 'MEMORY', 'IMAGE'],
    ['default', 'db', 'Running', '5m', '-', '-', '1', '128Mi', 'localhost/guests/tiny:latest'],
  ]);
});

test('an instance without a machine is listed by its phase', () => {
  assert.deepEqual(vmRows({ vms: [], vmis: [vmi('Scheduling')], now, isWide: false, isAcross: false })[1], [
    'db',
    'Scheduling',
    '5m',
    '-',
    '-',
  ]);
});

test('a machine whose disk began as an image shows that image', () => {
  const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'db-root' } }];
  const onClaim = { ...machine, spec: { ...machine.spec, template: { spec: { ...machine.spec.template.spec, volumes } } } };
  const of = (namespace: string) => {
    const claim = buildClaim({ name: 'db-root', image: `image/of/${namespace}`, size: '1Gi' });
    return { ...claim, metadata: { ...claim.metadata, namespace } };
  };
  const rows = vmRows({ vms: [onClaim], vmis: [], claims: [of('other'), of('default')], now, isWide: true, isAcross: false });
  assert.equal(rows[1]?.at(-1), 'image/of/default');
});

test('a machine that has stopped has no address any more', () => {
  const ended = vmi('Succeeded', { interfaces: [{ ipAddress: '10.244.0.2' }] });
  const rows = vmRows({ vms: [vm('Halted', { printableStatus: 'Stopped' })], vmis: [ended], now, isWide: false, isAcross: false });
  assert.equal(rows[1]?.[3], '-');
});

const exposed = (name: string, said: string, targetPort: number): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'default', annotations: { 'kubevirt.io/host-addresses': said } },
  spec: { selector: { 'vmi.kubevirt.io/id': 'db' }, ports: [{ port: 1000, targetPort }] },
});

test('addresses of this machine that lead to a guest have a column of their own, in a form that can be opened', () => {
  const services = [
    exposed('web', '1000:30080/TCP=127.0.0.1:8080', 80),
    exposed('ssh', '22:30081/TCP=127.0.0.1:30081,53:30053/UDP=127.0.0.1:30053', 22),
    exposed('bad', '80:30080/TCP=http://elsewhere.example,\u001b[31m', 80),
  ];
  assert.deepEqual(vmRows({ vms: [machine, stopped], vmis: [running], services, now, isWide: false, isAcross: false }), [
    ['NAME', 'STATUS', 'AGE', 'IP', 'NODE', 'ADDRESSES'],
    ['cache', 'Stopped', '5m', '-', '-', '-'],
    ['db', 'Running', '5m', '10.244.0.2', 'n1', 'http://127.0.0.1:8080 127.0.0.1:30081 127.0.0.1:30053/udp'],
  ]);
});
