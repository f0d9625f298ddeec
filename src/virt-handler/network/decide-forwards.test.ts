import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Interface } from '../../api/kubevirt/vmi-spec-schema.ts';
import { launcherPod, vmi } from '../../testing/builders.ts';
import { decideForwards, mayOpen, usualPorts } from './decide-forwards.ts';

const pod: Pod = launcherPod({ running: { startedAt: '2026-01-01T00:00:00Z' } }, {}, { labels: { app: 'db' } });

function withCard(card: Partial<Interface>): VirtualMachineInstance {
  const plain = vmi('Running');
  const devices = { ...plain.spec.domain.devices, interfaces: [{ name: 'default', masquerade: {}, ...card }] };
  return { ...plain, spec: { ...plain.spec, domain: { ...plain.spec.domain, devices } } };
}

function service(ports: Service['spec']['ports'], spec: Partial<Service['spec']> = {}, namespace = 'default'): Service {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 's', namespace }, spec: { selector: { app: 'db' }, ports, ...spec } };
}

test('nothing is open that nobody asks for', () => {
  assert.deepEqual(decideForwards({ vmi: vmi('Running'), pod, services: [] }), []);
});

test('the target ports of Services that select the Pod are open, each once', () => {
  const services = [
    service([
      { port: 80, targetPort: 8080 },
      { port: 53, protocol: 'UDP' },
    ]),
    service([{ port: 8080 }]),
  ];
  assert.deepEqual(decideForwards({ vmi: vmi('Running'), pod, services }), [
    { protocol: 'tcp', port: 8080 },
    { protocol: 'udp', port: 53 },
  ]);
});

test('other Services open nothing: another namespace, another selector, none', () => {
  const services = [
    service([{ port: 80 }], {}, 'other'),
    service([{ port: 80 }], { selector: { app: 'web' } }),
    service([{ port: 80 }], { selector: {} }),
  ];
  assert.deepEqual(decideForwards({ vmi: vmi('Running'), pod, services }), []);
});

test('of very many ports the first are open, and those that are declared and probed', () => {
  const very = (count: number) => Array.from({ length: count }, (_, n) => ({ port: n + 1_000 }));
  const probed = { ...vmi('Running').spec, readinessProbe: { tcpSocket: { port: 22 } } };
  const found = decideForwards({ vmi: { ...vmi('Running'), spec: probed }, pod, services: [service(very(20_000)), service(very(20_000))] });
  assert.deepEqual([found.length, found.at(-1)?.port], [513, 22]);
  assert.equal(decideForwards({ vmi: withCard({ ports: very(20_000) }), pod, services: [service(very(20_000))] }).length, 512);
});

test('declared ports are open, and then only those', () => {
  const machine = withCard({ ports: [{ name: 'http', port: 80 }] });
  const services = [service([{ port: 1, targetPort: 'http' }]), service([{ port: 22 }])];
  assert.deepEqual(decideForwards({ vmi: machine, pod, services }), [{ protocol: 'tcp', port: 80 }]);
  assert.equal(mayOpen(machine, { protocol: 'tcp', port: 22 }), false);
  assert.equal(mayOpen(vmi('Running'), { protocol: 'tcp', port: 22 }), true);
});

test('the ports of probes are open, declared or not', () => {
  const machine = withCard({ ports: [{ name: 'http', port: 80 }] });
  const spec = { ...machine.spec, readinessProbe: { tcpSocket: { port: 8080 } }, livenessProbe: { httpGet: { port: 80 } } };
  assert.deepEqual(decideForwards({ vmi: { ...machine, spec }, pod, services: [] }), [
    { protocol: 'tcp', port: 80 },
    { protocol: 'tcp', port: 8080 },
  ]);
});

test('a machine that declares no ports has the usual ones, others only their own', () => {
  const numbers = usualPorts(vmi('Running')).map(({ port }) => port);
  for (const port of [22, 80, 443, 3389, 8080]) assert.ok(numbers.includes(port), `${port}`);
  assert.equal(usualPorts(withCard({})).length, numbers.length);
  assert.deepEqual(usualPorts(withCard({ ports: [{ port: 80 }] })), []);
});

test('a guest without a card has no ports', () => {
  const plain = vmi('Running');
  const devices = { ...plain.spec.domain.devices, autoattachPodInterface: false };
  const lonely = { ...plain, spec: { ...plain.spec, domain: { ...plain.spec.domain, devices } } };
  assert.deepEqual(decideForwards({ vmi: lonely, pod, services: [service([{ port: 80 }])] }), []);
  assert.equal(mayOpen(lonely, { protocol: 'tcp', port: 80 }), false);
  assert.deepEqual(usualPorts(lonely), []);
});

test('ports in declared ranges are open, and no others', () => {
  const machine = withCard({
    ports: [{ port: 22 }],
    portRanges: [
      { start: 8000, end: 8002 },
      { start: 53, protocol: 'UDP' },
    ],
  });
  assert.deepEqual(decideForwards({ vmi: machine, pod, services: [] }), [
    ...[22, 8000, 8001, 8002].map((port) => ({ protocol: 'tcp', port })),
    { protocol: 'udp', port: 53 },
  ]);
  assert.equal(mayOpen(machine, { protocol: 'tcp', port: 8003 }), false);
});
