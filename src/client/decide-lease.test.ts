import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Lease } from '../api/core/lease.ts';
import { decideLease } from './decide-lease.ts';

function lease(holderIdentity: string): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'l' },
    spec: { holderIdentity, leaseDurationSeconds: 15 },
  };
}

for (const [fact, seen, expected] of [
  ['without a lease one is made', { lease: undefined, unchangedSince: 0 }, 'create'],
  ['our own is renewed, however old', { lease: lease('me'), unchangedSince: -60_000 }, 'renew'],
  ['one that was given back is taken', { lease: lease(''), unchangedSince: 0 }, 'take'],
  ['one that another renewed just now is left alone', { lease: lease('other'), unchangedSince: -14_999 }, 'wait'],
  ['one that another has not renewed for its duration is taken', { lease: lease('other'), unchangedSince: -15_000 }, 'take'],
] as const) {
  test(fact, () => assert.equal(decideLease({ ...seen, identity: 'me', now: 0 }).do, expected));
}
