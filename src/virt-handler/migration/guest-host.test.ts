import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GuestHost, readGuestHost } from '../../api/handler/guest-host.ts';
import { tinySpec } from '../../testing/builders.ts';
import { whyUnlike } from './guest-host.ts';

const host: GuestHost = { qemu: '7.2', accelerator: 'kvm', processor: 'A', machine: 'm', contents: { seed: '1' } };
const named = { ...tinySpec, domain: { ...tinySpec.domain, cpu: { model: 'Nehalem' } } };

const CASES: readonly [string, Partial<GuestHost>, RegExp | undefined][] = [
  ['the same', {}, undefined],
  ['another accelerator', { accelerator: 'tcg' }, /runs with kvm, and QEMU of the other node with tcg/],
  ['another QEMU', { qemu: '9.0' }, /QEMU 7.2, and the other node has 9.0/],
  ['another processor', { processor: 'B' }, /the processor of its node \(A\), and the other node has B/],
  ['another machine', { machine: 'n' }, /another machine there/],
  ['another content', { contents: { seed: '2' } }, /disk seed would have another content/],
  ['a launcher of an earlier release', { machine: undefined as never, contents: {} }, undefined],
];

for (const [name, more, why] of CASES)
  test(`a guest that goes where there is ${name}`, () => {
    const answer = whyUnlike(host, { ...host, ...more }, tinySpec);
    if (why) assert.match(answer ?? '', why);
    else assert.equal(answer, undefined);
  });

test('a guest with a model of its own has that on every processor', () => {
  assert.equal(whyUnlike(host, { ...host, processor: 'B' }, named), undefined);
});

test('what comes in a query is looked at', () => {
  assert.deepEqual(readGuestHost(JSON.stringify(host)), host);
  assert.equal(readGuestHost(undefined), undefined);
  for (const wrong of ['x', '{}', '{"qemu":1,"accelerator":"kvm"}']) assert.throws(() => readGuestHost(wrong), { reason: 'BadRequest' });
});
