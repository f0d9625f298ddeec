import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guestHostname } from './hostname.ts';
import { hostnameOf, type VirtualMachineInstance } from './virtual-machine-instance.ts';

const CASES = [
  { name: 'db' },
  { name: 'db.prod.example' },
  { name: 'db', hostname: 'other' },
  { name: 'a'.repeat(80) },
  { name: `${'a'.repeat(62)}-b` },
  { name: '' },
];

for (const { name, hostname } of CASES) {
  test(`the launcher and the other components agree on the host name of ${JSON.stringify({ name, hostname })}`, () => {
    const vmi = { metadata: { name }, spec: { domain: { devices: {} }, ...(hostname && { hostname }) } } as VirtualMachineInstance;
    assert.equal(guestHostname(vmi), hostnameOf(vmi));
  });
}
