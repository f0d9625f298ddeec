import assert from 'node:assert/strict';
import { test } from 'node:test';
import { becoming } from './share-folders.ts';

const USER = { uid: 40_001, gid: 40_001, groups: [50_002] };

test("started by root a guest works in a folder as QEMU's user, in a container that has users of its own, too", () => {
  for (const map of ['         0          0 4294967295\n', '0 100000 65536\n'])
    assert.deepEqual(becoming(USER, map).slice(1), ['--reuid', '40001', '--regid', '40001', '--groups', '40001,50002']);
});

test('in a namespace of an ordinary user it works there as that user, whose folder it is, without rights', () => {
  const words = becoming(USER, '         0       1000          1\n         1     100000      65535\n');
  assert.deepEqual(words.slice(1, 6), ['--reuid', '0', '--regid', '0', '--clear-groups']);
  assert.ok(words.includes('--bounding-set=-all,+setfcap'));
});

test('who already is the user becomes nobody else', () => {
  assert.deepEqual(becoming(undefined, '1000 1000 1\n'), []);
});
