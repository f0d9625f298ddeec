import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMachineName } from './machine-name.ts';

for (const name of ['a', 'web-1', '0db', 'x'.repeat(63)])
  test(`${name} is a name`, () => assert.equal(parseMachineName('--name', name), name));

const CASES: [said: string, fix: string][] = [
  ['Hello_World', '--name hello-world'],
  ['-x-', '--name x'],
  ['a.b', '--name a-b'],
  ['!!', '--name my-vm'],
  ['x'.repeat(64), `--name ${'x'.repeat(63)}`],
];
for (const [said, fix] of CASES)
  test(`${said} is refused, with one that would do`, () => {
    assert.throws(() => parseMachineName('--name', said), { code: 'USAGE', exitCode: 2, fix, message: /name of a machine/ });
  });

test('a name that stands by itself is refused without a flag', () => {
  assert.throws(() => parseMachineName('', 'Hello_World'), { message: 'Hello_World cannot be the name of a machine', fix: 'hello-world' });
});
