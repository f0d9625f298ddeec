import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
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
