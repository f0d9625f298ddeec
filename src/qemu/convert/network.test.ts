import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConvertInput, POD_NETDEV } from './input.ts';
import { macOf } from './mac.ts';
import { networkParts } from './network.ts';
import { rootBusOf } from './root-bus.ts';
import { input } from './vmi.testing.ts';

const parts = (input: ConvertInput) => networkParts(input, rootBusOf(input.vmi.spec));
const card = { name: 'default', masquerade: {} };

test('a guest has the addresses of masquerade', () => {
  const addresses = { net: '10.0.2.0/24', host: '10.0.2.1', dhcpstart: '10.0.2.2', dns: '10.0.2.3', ipv6: false };
  assert.deepEqual(parts(input())[0], { part: 'netdev', id: POD_NETDEV, type: 'user', properties: { ...addresses, hostname: 'testvm' } });
});

test('a listed interface without a network is on the network of the Pod', () => {
  const [, nic] = parts(input({ interfaces: [{ ...card, model: 'e1000', macAddress: '02-AA-BB-CC-DD-EE' }] }));
  assert.deepEqual(nic, {
    ...{ part: 'device', id: 'nic0', driver: 'e1000', place: { kind: 'pci', bus: 'pcie.0', slot: 3, function: 0 } },
    properties: { netdev: 'net0', mac: '02:aa:bb:cc:dd:ee', romfile: '' },
  });
});

test('another guest network is used as given', () => {
  const [netdev] = parts(input({ interfaces: [card] }, { networks: [{ name: 'default', pod: { vmNetworkCIDR: '192.168.7.9/25' } }] }));
  const { net, host, dhcpstart } = netdev?.part === 'netdev' ? netdev.properties : {};
  assert.deepEqual([net, host, dhcpstart], ['192.168.7.0/25', '192.168.7.1', '192.168.7.2']);
});

test('a guest without network cards has none', () => {
  assert.deepEqual(parts(input({ autoattachPodInterface: false })), []);
});

for (const cidr of ['10.0.2.0/30', '10.0.2.0', '300.0.0.0/24', '10.0.2.0/24,hostfwd=tcp::22-:22']) {
  test(`${cidr} is refused as a guest network`, () => {
    const given = input({ interfaces: [card] }, { networks: [{ name: 'default', pod: { vmNetworkCIDR: cidr } }] });
    assert.throws(() => parts(given), { code: 'NETWORK_INVALID' });
  });
}

test('an interface needs a network of its name', () => {
  const given = input({ interfaces: [card] }, { networks: [{ name: 'other', pod: {} }] });
  assert.throws(() => parts(given), { code: 'NETWORK_MISSING' });
});

test('a made-up hardware address belongs to the machine, not to the instance', () => {
  const firmware = { uuid: 'c3a4b7a5-9d5e-4d2c-8c63-6c1a7a5a6a01' };
  const [first, second] = ['one', 'two'].map((uid) => {
    const { vmi } = input({}, {}, { firmware });
    return macOf({ ...vmi, metadata: { ...vmi.metadata, uid } }, card);
  });
  assert.equal(first, second);
  assert.match(first ?? '', /^02(:[0-9a-f]{2}){5}$/);
});

test('made-up hardware addresses of a thousand machines differ', () => {
  const { vmi } = input();
  const macs = Array.from({ length: 1000 }, (_, i) => macOf({ ...vmi, metadata: { ...vmi.metadata, name: `vm-${i}` } }, card));
  assert.equal(new Set(macs).size, 1000);
});

test('a multicast hardware address is refused', () => {
  assert.throws(() => macOf(input().vmi, { ...card, macAddress: '01:00:5e:00:00:01' }), { code: 'MAC_INVALID' });
});

test('on a network that is not for guests nothing leads out', () => {
  const [netdev] = parts({ ...input(), host: { accel: 'tcg', isClosed: true } });
  assert.equal((netdev as { properties: Record<string, unknown> }).properties['restrict'], true);
});

test('a card that is booted from has the firmware for it, and its turn', () => {
  const [, nic] = parts(input({ interfaces: [{ ...card, model: 'e1000', bootOrder: 2, acpiIndex: 7, macAddress: '02:aa:bb:cc:dd:ee' }] }));
  assert.deepEqual(nic?.part === 'device' && nic.properties, {
    ...{ netdev: 'net0', mac: '02:aa:bb:cc:dd:ee', romfile: 'pxe-e1000.rom', bootindex: 2, 'acpi-index': 7 },
  });
});
