import assert from 'node:assert/strict';
import { test } from 'node:test';
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
