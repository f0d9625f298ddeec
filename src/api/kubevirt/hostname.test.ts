import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostnameOf } from './hostname.ts';

const CASES: readonly [fact: string, name: string, hostname: string | undefined, expected: string][] = [
  ['is the name of the instance', 'db', undefined, 'db'],
  ['ends at the first dot of that name', 'db.prod.example', undefined, 'db'],
  ['is what the spec says', 'db', 'other', 'other'],
  ['is cut to the length of a DNS label', 'a'.repeat(80), undefined, 'a'.repeat(63)],
  ['does not end in a dash when it is cut', `${'a'.repeat(62)}-b`, undefined, 'a'.repeat(62)],
];

for (const [fact, name, hostname, expected] of CASES) {
  test(`the host name ${fact}`, () => assert.equal(hostnameOf({ metadata: { name }, spec: { hostname } }), expected));
}
