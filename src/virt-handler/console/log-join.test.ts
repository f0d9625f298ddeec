import assert from 'node:assert/strict';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { LogJoin, whereItBegins } from './log-join.ts';

/** A log whose past was read, and what is shown of what follows. */
async function opened(t: TestContext) {
  const path = join(await temporaryFolder(t), 'serial0.log');
  await writeFile(path, 'past\n');
  const log = new LogJoin(path);
  assert.equal(String(await log.readPast(100)), 'past\n');
  return {
    log,
    path,
    print: (text: string) => appendFile(path, text),
    come: async (text: string) => String(await log.join(() => Buffer.from(text))),
  };
}

test('what was printed before QEMU had taken the connection is shown before what comes through it', async (t) => {
  const { print, come } = await opened(t);
  await print('one\ntwo\n');
  assert.equal(await come('two\n'), 'one\ntwo\n');
});

test('it is shown, too, when nothing comes, and then not once more', async (t) => {
  const { print, come } = await opened(t);
  await print('one\n');
  assert.equal(await come(''), 'one\n');
  await print('two\nthree\n');
  assert.equal(await come('three\n'), 'two\nthree\n');
});

test('what was on its way when it was read in the log is shown once', async (t) => {
  const { print, come } = await opened(t);
  await print('one\ntwo\n');
  assert.equal(await come(''), 'one\ntwo\n');
  await print('three\n');
  assert.equal(await come('two\nthree\n'), 'three\n');
});

test('what QEMU has not written to its log yet is shown once', async (t) => {
  const { print, come } = await opened(t);
  await print('one\ntw');
  assert.equal(await come('two\nthree\n'), 'one\ntwo\nthree\n');
});

test('what another node has sent to the log was shown by who wrote it', async (t) => {
  const { log, print, come } = await opened(t);
  log.skip('there\n'.length);
  await print('there\n');
  await print('here\n');
  assert.equal(await come('here\n'), 'here\n');
});

test('a log that was cut, or is gone, has nothing to add', async (t) => {
  const { path, come } = await opened(t);
  await writeFile(path, 'pa');
  assert.equal(await come('two\n'), 'two\n');
  await rm(path);
  assert.equal(await come('three\n'), 'three\n');
});

test('a guest that prints the same without end costs little', () => {
  const [logged, received] = [Buffer.alloc(2 ** 20, 'a'), Buffer.concat([Buffer.alloc(2 ** 20, 'a'), Buffer.from('b')])];
  const beganAt = performance.now();
  assert.equal(whereItBegins(Buffer.concat([Buffer.from('c'), logged]), received), 1);
  assert.equal(whereItBegins(logged, Buffer.concat([Buffer.alloc(1000, 'a'), Buffer.from('b')])), logged.length - 1000);
  assert.ok(performance.now() - beganAt < 1_000);
});
