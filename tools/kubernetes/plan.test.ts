import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostRoutes, isTaken, MAX_CLUSTERS, MAX_NODES, nodeRoutes, planCluster } from './plan.ts';

test('no two clusters share an address, a name or a device', () => {
  const things = Array.from({ length: MAX_CLUSTERS }, (_, number) => {
    const { bridge, nodeCidr, podCidr, serviceCidr, loopback, nodes } = planCluster(number, MAX_NODES);
    return [bridge, nodeCidr, podCidr, serviceCidr, loopback, ...nodes.flatMap(({ address, podCidr: own, link }) => [address, own, link])];
  }).flat();
  assert.equal(new Set(things).size, things.length);
});

test('names of devices are as short as the kernel wants them', () => {
  const links = planCluster(MAX_CLUSTERS - 1, MAX_NODES).nodes.map(({ link }) => link.length);
  assert.ok(Math.max(...links) <= 15);
});

test('the machine reaches Pods through their nodes, and Services through the first', () => {
  assert.deepEqual(hostRoutes(planCluster(2, 2)), [
    ['10.226.1.0/24', 'via', '10.250.2.11'],
    ['10.226.2.0/24', 'via', '10.250.2.12'],
    ['10.241.2.0/24', 'via', '10.250.2.11'],
  ]);
});

test('a node reaches the Pods of the others', () => {
  const plan = planCluster(0, 3);
  assert.deepEqual(nodeRoutes(plan, plan.nodes[1]!), [
    // there are three
    ['default', 'via', '10.250.0.1'],
    ['10.224.1.0/24', 'via', '10.250.0.11'],
    ['10.224.3.0/24', 'via', '10.250.0.13'],
  ]);
});

test('a number is taken when a route leads to any of its addresses', () => {
  const plan = planCluster(1, 1);
  for (const [route, expected] of [
    ['default via 192.0.2.1 dev eth0', false],
    ['10.250.1.0/24 dev kubets1', true],
    ['10.225.3.0/24 via 10.0.0.1', true],
    ['10.241.1.0/24 via 10.0.0.1', true],
    ['10.241.10.0/24 via 10.0.0.1', false],
    ['10.250.10.0/24 dev kubets10', false],
  ] as const) {
    assert.equal(isTaken(plan, [route]), expected, route);
  }
});
