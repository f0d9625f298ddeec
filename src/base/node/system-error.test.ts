import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { explainSystemError } from './system-error.ts';

test('a full disk is one error with a fix, however deep it was noticed', () => {
  const fd = openSync('/dev/full', 'w');
  try {
    writeSync(fd, 'x');
    assert.fail('it took it');
  } catch (error) {
    const explained = explainSystemError(new Error('cannot import', { cause: error }));
    assert.deepEqual(
      [explained?.code, explained?.message, explained?.why],
      ['DISK_FULL', 'there is no space left', 'ENOSPC when it was to write'],
    );
    assert.match(explained?.fix ?? '', /df -h/);
  } finally {
    closeSync(fd);
  }
});

test('what has no remedy of its own stays as it is', () => {
  assert.equal(explainSystemError(Object.assign(new Error('EISDIR'), { code: 'EISDIR' })), undefined);
  assert.equal(explainSystemError('text'), undefined);
});

test('a port that is taken is one error with a fix', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // it listens
  const [error] = (await once(createServer().listen(port, '127.0.0.1'), 'error')) as [Error];
  server.close();
  const explained = explainSystemError(error);
  assert.equal(explained?.code, 'PORT_IN_USE');
  assert.equal(explained.message, `another program listens there already for 127.0.0.1:${port}`);
  assert.match(explained.fix ?? '', /another port/);
});
