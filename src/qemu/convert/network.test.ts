import assert from 'node:assert/strict';
import { test } from 'node:test';
import { macOf } from './mac.ts';
import { networkArguments } from './network.ts';
import { input, valuesOf } from './vmi.testing.ts';

const card = { name: 'default', masquerade: {} };

test('a guest has the addresses of masquerade', () => {
  const args = networkArguments(input().vmi);
  const addresses = { net: '10.0.2.0/24', host: '10.0.2.1', dhcpstart: '10.0.2.2', dns: '10.0.2.3', ipv6: false };
  assert.deepEqual(valuesOf(args, '-netdev'), [{ type: 'user', id: 'net0', ...addresses, hostname: 'testvm' }]);
});

test('a listed interface without a network is on the network of the Pod', () => {
  const args = networkArguments(input({ interfaces: [{ ...card, model: 'e1000', macAddress: '02-AA-BB-CC-DD-EE' }] }).vmi);
  assert.deepEqual(valuesOf(args, '-device'), [{ driver: 'e1000', id: 'nic0', netdev: 'net0', mac: '02:aa:bb:cc:dd:ee', romfile: '' }]);
});

test('another guest network is used as given', () => {
  const args = networkArguments(
    input({ interfaces: [card] }, { networks: [{ name: 'default', pod: { vmNetworkCIDR: '192.168.7.9/25' } }] }).vmi,
  );
  const [{ net, host, dhcpstart }] = valuesOf(args, '-netdev') as [Record<string, unknown>];
  assert.deepEqual([net, host, dhcpstart], ['192.168.7.0/25', '192.168.7.1', '192.168.7.2']);
});

test('a guest without network cards has none', () => {
  assert.deepEqual(networkArguments(input({ autoattachPodInterface: false }).vmi), []);
});

for (const cidr of ['10.0.2.0/30', '10.0.2.0', '300.0.0.0/24', '10.0.2.0/24,hostfwd=tcp::22-:22']) {
  test(`${cidr} is refused as a guest network`, () => {
    const { vmi } = input({ interfaces: [card] }, { networks: [{ name: 'default', pod: { vmNetworkCIDR: cidr } }] });
    assert.throws(() => networkArguments(vmi), { code: 'NETWORK_INVALID' });
  });
}

test('an interface needs a network of its name', () => {
  const { vmi } = input({ interfaces: [card] }, { networks: [{ name: 'other', pod: {} }] });
  assert.throws(() => networkArguments(vmi), { code: 'NETWORK_MISSING' });
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
