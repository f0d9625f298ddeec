import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ChoiceFlags, parseChoice } from './choices.ts';

const CASES: [flags: ChoiceFlags, claims: string[], expected: object | undefined][] = [
  [{ instancetype: 'u1.small' }, ['data'], { name: 'u1.small' }],
  [{ instancetype: 'virtualmachineinstancetype/mine' }, [], { name: 'mine', kind: 'VirtualMachineInstancetype' }],
  [{ inferInstancetypeFrom: 'root' }, [], { inferFromVolume: 'root' }],
  [{ inferInstancetype: true }, ['data'], { inferFromVolume: 'data' }],
  [{ inferInstancetype: false }, ['data'], undefined],
  [{}, ['data'], { inferFromVolume: 'data', inferFromVolumeFailurePolicy: 'Ignore' }],
  [{}, [], undefined],
];
for (const [flags, claims, expected] of CASES) {
  test(`${JSON.stringify(flags)} with ${claims.length} claims`, () =>
    assert.deepEqual(parseChoice('instancetype', flags, claims), expected));
}

const WRONG: ChoiceFlags[] = [
  { instancetype: 'a', inferInstancetype: true },
  { instancetype: 'a', inferInstancetypeFrom: 'b' },
  { instancetype: 'pod/a' },
  { instancetype: 'a/b/c' },
  { inferInstancetype: true },
];
for (const flags of WRONG) {
  test(`${JSON.stringify(flags)} is refused`, () => assert.throws(() => parseChoice('instancetype', flags, []), { code: 'USAGE' }));
}
