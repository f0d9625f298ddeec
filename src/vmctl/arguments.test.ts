import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseArguments } from './arguments.ts';

test('one name is enough: both namespaces are default', () => {
  assert.deepEqual(parseArguments(['testvm']), { prototype: 'testvm', namespace: 'default', protoNamespace: 'default' });
});

test('the prototype is looked for where the machine is made, unless said otherwise', () => {
  assert.deepEqual(parseArguments(['--namespace', 'a', 'testvm']), { prototype: 'testvm', namespace: 'a', protoNamespace: 'a' });
  assert.deepEqual(parseArguments(['testvm', '--namespace=a', '--proto-namespace=b', '--hostname-override=web-0']), {
    prototype: 'testvm',
    namespace: 'a',
    protoNamespace: 'b',
    hostnameOverride: 'web-0',
  });
});

test('what cannot be meant is refused as usage', () => {
  for (const argv of [[], ['a', 'b'], ['--nmaespace', 'x', 'a'], ['--namespace=', 'a'], ['']])
    assert.throws(() => parseArguments(argv), { code: 'USAGE', exitCode: 2 }, argv.join(' '));
});

test('help and version need no name', () => {
  assert.equal(parseArguments(['--help']), 'help');
  assert.equal(parseArguments(['--version', 'a', 'b']), 'version');
});
