import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Service } from '../api/core/service.ts';
import { vm, vmi } from '../testing/builders.ts';
import { deriveMachines } from './derive-machines.ts';
import { deriveCards, deriveWays } from './derive-network.ts';

const labels = { app: 'web' };
const machine = (status: object = {}) =>
  deriveMachines([vm('Always')], [vmi('Running', status, { labels })])[0] ?? assert.fail('there is one');
const service = (name: string, selector: Record<string, string> | undefined, namespace = machine().namespace): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: {
    ...(selector && { selector }),
    ports: [
      { port: 80, targetPort: 8080, nodePort: 30_080 },
      { port: 53, protocol: 'UDP' },
    ],
  },
});

test('a Service leads to a machine whose labels it selects, in its own namespace, and one without a selector to none', () => {
  const { name, namespace } = machine();
  const services = [
    service('web', labels),
    service('by-name', { 'vm.kubevirt.io/name': name }),
    service('exposed', { 'vmi.kubevirt.io/id': name }), // as virtctl expose makes it
    service('other', { app: 'db' }),
    service('empty', {}),
    service('none', undefined),
    service('elsewhere', labels, 'another'),
  ];
  const ways = deriveWays(machine(), services);
  assert.deepEqual([...new Set(ways.map((way) => way.service))], ['web', 'by-name', 'exposed']);
  assert.deepEqual(ways[0], { service: 'web', address: `web.${namespace}.svc:80`, port: '8080/TCP', nodePort: 30_080, here: undefined });
  assert.deepEqual(ways[1], { service: 'web', address: `web.${namespace}.svc:53`, port: '53/UDP', nodePort: undefined, here: undefined });
  assert.deepEqual(deriveWays(deriveMachines([vm('Halted')], [])[0] ?? assert.fail(), services), []);
});

test('what a guest says of its cards turns no text around', () => {
  const [card] = deriveCards(
    machine({ interfaces: [{ name: 'default', ipAddress: '10.0.0.1', interfaceName: 'eth0\u202e<b>\u001b[2J' }] }),
  );
  assert.deepEqual(card, { name: 'default', mac: '–', addresses: '10.0.0.1', inGuest: 'eth0\\u202e<b>\\u001b[2J' });
});

test('a port leads to where it is on this machine, as the cluster says, and to nothing else that somebody wrote there', () => {
  const served = (addresses: string) => {
    const plain = service('web', labels);
    const ports = [...(plain.spec.ports ?? []), { port: 22 }];
    const annotations = { 'kubevirt.io/host-addresses': addresses };
    return deriveWays(machine(), [{ ...plain, metadata: { ...plain.metadata, annotations }, spec: { ...plain.spec, ports } }]);
  };
  assert.deepEqual(
    served('80:30080/TCP=127.0.0.1:31234,53:30053/UDP=127.0.0.1:30053,22:30022/TCP=127.0.0.1:30022').map(({ here }) => here),
    [
      { address: '127.0.0.1:31234', href: 'http://127.0.0.1:31234/' },
      { address: '127.0.0.1:30053/udp', href: undefined },
      { address: '127.0.0.1:30022', href: undefined },
    ],
  );
  for (const other of ['80:30080/TCP=evil.example:80', '80:30080/TCP=javascript:alert(1)', '81:30080/TCP=127.0.0.1:81', ''])
    assert.equal(served(other)[0]?.here, undefined, other);
});
