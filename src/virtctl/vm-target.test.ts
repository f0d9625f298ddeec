import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UserError } from '../base/errors.ts';
import { vmName, vmTarget, vmTargets } from './vm-target.ts';

const CASES: [string[], string][] = [
  [['db'], 'db'],
  [['vm', 'db'], 'db'],
  [['VMI', 'db'], 'db'],
  [['vm/db'], 'db'],
  [['vm'], 'vm'],
];

for (const [words, expected] of CASES) {
  test(`"${words.join(' ')}" names ${expected}`, () => assert.equal(vmName('start', words), expected));
}

test('two names are refused, with the way to say it', () => {
  assert.throws(
    () => vmName('start', ['web', 'db']),
    (error: UserError) =>
      error instanceof UserError &&
      error.why === 'web is not a kind (vm, vmi), and only one name is taken at a time' &&
      error.fix === 'virtctl start web; virtctl start db',
  );
});

test('the kind that was said is kept, and a published slip is understood', () => {
  assert.deepEqual(vmTarget('start', ['ovm', 'db']), { kind: 'ovm', name: 'db' });
  assert.deepEqual(vmTarget('start', ['omv', 'db']), { kind: 'ovm', name: 'db', note: 'omv is taken as ovm' });
  assert.deepEqual(vmTarget('start', ['vmic/db']), { kind: 'vmic', name: 'db' });
  assert.deepEqual(vmTarget('start', ['db']), { name: 'db' });
});

const SEVERAL: [string, object[]][] = [
  ['a', [{ name: 'a' }]],
  ['a b', [{ name: 'a' }, { name: 'b' }]],
  [
    'vm a b',
    [
      { kind: 'vm', name: 'a' },
      { kind: 'vm', name: 'b' },
    ],
  ],
  [
    'vm/a vmi/b',
    [
      { kind: 'vm', name: 'a' },
      { kind: 'vmi', name: 'b' },
    ],
  ],
  ['vm', [{ name: 'vm' }]],
];
for (const [words, expected] of SEVERAL)
  test(`"${words}" are ${expected.length}`, () => assert.deepEqual(vmTargets('start', words.split(' ')), expected));
