import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { writeFileDurablySync } from './durable-file.ts';
import { readIfThere, readIfThereSync } from './read-if-there.ts';
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
  assert.equal(explainSystemError(Object.assign(new Error('EBUSY'), { code: 'EBUSY' })), undefined);
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

test('a folder in the place of a file, and a file in the place of a folder, are named', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'places-'));
  t.after(() => rmSync(home, { recursive: true }));
  const [folder, file] = [join(home, 'folder'), join(home, 'file')];
  mkdirSync(folder);
  writeFileSync(file, '');
  const attempts: [work: () => unknown, code: string, path: string][] = [
    [() => readIfThereSync(folder), 'NOT_A_FILE', folder],
    [() => readIfThere(folder), 'NOT_A_FILE', folder],
    [() => writeFileDurablySync(folder, ''), 'NOT_A_FILE', folder],
    [() => rmSync(folder), 'NOT_A_FILE', folder],
    [() => mkdirSync(file, { recursive: true }), 'NOT_A_FOLDER', file],
    [() => readIfThereSync(join(file, 'x')), 'NOT_A_FOLDER', join(file, 'x')],
  ];
  for (const [work, code, path] of attempts) {
    const error = await (async () => work())().catch((thrown: unknown) => thrown);
    const explained = explainSystemError(error);
    assert.deepEqual([explained?.code, explained?.message.endsWith(` for ${path}`)], [code, true], String(error));
    assert.match(explained?.fix ?? '', /move that .* away/);
  }
  assert.equal(readIfThereSync(join(home, 'nothing')), undefined);
});
