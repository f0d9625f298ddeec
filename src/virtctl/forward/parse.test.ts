import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePort, parseTarget } from './parse.ts';

test('a target is a machine or an instance, with or without its namespace', () => {
  assert.deepEqual(parseTarget('vm/db'), { resource: 'virtualmachines', name: 'db' });
  assert.deepEqual(parseTarget('vmi/db/test'), { resource: 'virtualmachineinstances', name: 'db', namespace: 'test' });
  assert.deepEqual(parseTarget('db'), { resource: 'virtualmachineinstances', name: 'db' });
  for (const wrong of ['pod/db', 'vm/', 'vm/a/', 'vm/a/b/c', '']) assert.throws(() => parseTarget(wrong), { code: 'USAGE' }, wrong);
});

test('a port is a number, or two, with a protocol', () => {
  assert.deepEqual(parsePort('22'), { protocol: 'tcp', local: 22, remote: 22 });
  assert.deepEqual(parsePort('8080:80'), { protocol: 'tcp', local: 8080, remote: 80 });
  assert.deepEqual(parsePort('udp/5353:53'), { protocol: 'udp', local: 5353, remote: 53 });
  assert.deepEqual(parsePort('0:80'), { protocol: 'tcp', local: 0, remote: 80 });
  for (const wrong of ['', '0', 'http', '70000', '80:0', '1:2:3', 'sctp/80'])
    assert.throws(() => parsePort(wrong), { code: 'USAGE' }, wrong);
});
