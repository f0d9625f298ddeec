import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Interface } from '../../api/kubevirt/vmi-spec-schema.ts';
import { explain } from '../../reconcile/decision.ts';
import { launcherPod, vmi } from '../../testing/builders.ts';
import { decideNetwork, portsToLookAt } from './decide.ts';
import type { OpenForward } from './forwards.ts';
import type { ObservedNetwork } from './observe.ts';
import { afterLook, noVerdicts } from './port-verdicts.ts';

const ADDRESS = '10.0.0.1';
const PORTS: Interface['ports'] = [{ port: 80 }, { port: 53, protocol: 'UDP' }];

function forward(guestPort: number, more: Partial<OpenForward> = {}): OpenForward {
  return { protocol: 'tcp', address: ADDRESS, hostPort: guestPort, guestPort, use: 'lasting', ...more };
}

/** A guest that declares 80 and UDP 53, and takes connections at these ports, after two looks. */
function seen(open: readonly OpenForward[] | undefined, takes?: readonly number[]): ObservedNetwork {
  const plain = vmi('Running');
  const devices = { ...plain.spec.domain.devices, interfaces: [{ name: 'default', masquerade: {}, ports: PORTS }] };
  const guest = { ...plain, spec: { ...plain.spec, domain: { ...plain.spec.domain, devices } } };
  const pod = launcherPod({ running: { startedAt: '2026-01-01T00:00:00Z' } }, {}, {});
  const ports = [80, 8080];
  const refuses = new Set(ports.filter((port) => !takes?.includes(port)));
  const look = { ports, answer: { isThere: true, takes: new Set(takes), refuses }, nowMs: 0 };
  const verdicts = takes && afterLook(afterLook(noVerdicts(0), look), look);
  return { vmi: guest, pod, address: ADDRESS, services: [], open, verdicts };
}

const udp = forward(53, { protocol: 'udp' });
for (const [fact, observed, lines] of [
  ['a QEMU that cannot be asked is asked again', seen(undefined), ['look again in 0.5s']],
  ['UDP is opened unseen, TCP not before somebody has looked', seen([]), ['open port udp 53 10.0.0.1: it is declared or served']],
  [
    'a port that the guest takes connections at is opened',
    seen([udp], [80]),
    ['open port tcp 80 10.0.0.1: the guest takes connections there'],
  ],
  ['one at which it takes none stays closed', seen([udp], []), []],
  ['one that is open stays open while the guest takes connections', seen([udp, forward(80)], [80]), []],
  ['and while nobody has looked', seen([udp, forward(80)]), []],
  [
    'one at which the guest takes none is closed',
    seen([udp, forward(80)], []),
    ['close port tcp 80 80 10.0.0.1: the guest takes no connections there'],
  ],
  ['a port that nobody wants any more is not opened', seen([udp, forward(80)], [80, 8080]), []],
  ['one that is open at another number is open', seen([udp, forward(80, { hostPort: 40_001 })], [80]), []],
  [
    'a way for one connection is left alone, and opens nothing for others',
    seen([udp, forward(80, { hostPort: 40_001, use: 'passing' })], [80]),
    ['open port tcp 80 10.0.0.1: the guest takes connections there'],
  ],
  [
    'one that a process before this one left is closed',
    seen([udp, forward(80), forward(80, { hostPort: 40_001, use: 'stray' })], [80]),
    ['close port tcp 40001 80 10.0.0.1: it was for a connection that is over'],
  ],
] as const)
  test(fact, () => assert.deepEqual(explain(decideNetwork(observed)), lines));

test('looked at are TCP ports that somebody can ask for or that are open', () => {
  assert.deepEqual(portsToLookAt(seen([udp, forward(80), forward(8080), forward(99, { hostPort: 40_001, use: 'passing' })])), [80, 8080]);
});
