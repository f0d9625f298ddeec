import assert from 'node:assert/strict';
import { appendFile, link, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { SERIAL_LOG } from '../../api/launcher/files.ts';
import { temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { Scrollback } from './scrollback.ts';
import { readTail, trimLog } from './serial-log.ts';

const SIZES = { capBytes: 100, keepBytes: 10 };

test('a log is cut to its end once it is too long', async (t) => {
  const path = join(await temporaryFolder(t), SERIAL_LOG);
  await writeFile(path, `${'x'.repeat(90)}0123456789`);
  await trimLog(path, SIZES);
  assert.equal((await readFile(path)).length, 100);
  await appendFile(path, '!');
  await trimLog(path, SIZES);
  assert.equal(await readFile(path, 'utf8'), '123456789!');
  assert.equal(String((await readTail(path, 3)).bytes), '89!');
});

test('a link in place of the log is neither read nor cut', async (t) => {
  const folder = await temporaryFolder(t);
  const secret = join(folder, 'secret');
  await writeFile(secret, 's'.repeat(200));
  for (const [name, make] of [
    ['symlink', symlink],
    ['hard link', link],
  ] as const) {
    const path = join(folder, name);
    await make(secret, path);
    await trimLog(path, SIZES);
    assert.equal(String((await readTail(path, 10)).bytes), '', name);
  }
  assert.equal((await readFile(secret)).length, 200);
});

test('scrollback is the end of everything pushed, however it was cut', () => {
  const text = 'abcdefghijklmnopqrstuvwxyz';
  for (let cut = 1; cut <= text.length; cut++) {
    const scrollback = new Scrollback(10);
    for (let at = 0; at < text.length; at += cut) scrollback.push(Buffer.from(text.slice(at, at + cut)));
    assert.equal(String(scrollback.read()), text.slice(-10), `pieces of ${cut}`);
  }
});
