import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { UploadFile } from './upload-file.ts';

function world(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'upload-file-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = new UploadFile({ folder, maxBytes: 100 });
  const put = (text: string, range?: string) =>
    file.take(new Request('https://x/', { method: 'PUT', body: text, headers: range ? { 'content-range': range } : {} }));
  return { folder, file, put };
}

test('pieces become a file, also for who comes after a kill', async (t) => {
  const { folder, file, put } = world(t);
  assert.equal(await put('abc', 'bytes 0-2/6'), undefined);
  assert.deepEqual(new UploadFile({ folder, maxBytes: 100 }).state(), { receivedBytes: 3, totalBytes: 6 });
  const path = await put('def', 'bytes 3-5/6');
  assert.equal(readFileSync(path ?? '', 'utf8'), 'abcdef');
  file.remove();
  assert.deepEqual([file.state(), readdirSync(folder)], [{ receivedBytes: 0 }, []]);
});

test('a link in the place of the file is not written through', async (t) => {
  const { folder, put } = world(t);
  const other = mkdtempSync(join(tmpdir(), 'upload-other-'));
  t.after(() => rmSync(other, { recursive: true }));
  const target = join(other, 'target');
  await put('abc', 'bytes 0-2/6');
  rmSync(join(folder, 'upload-6'));
  writeFileSync(target, 'xxx'); // as long as what was sent
  symlinkSync(target, join(folder, 'upload-6'));
  await assert.rejects(put('def', 'bytes 3-5/6'));
  assert.equal(readFileSync(target, 'utf8'), 'xxx');
  await put('ghi', 'bytes 0-2/6');
  assert.equal(readFileSync(target, 'utf8'), 'xxx');
});

test('a piece that does not fit is told where the next one begins', async (t) => {
  const { put, file } = world(t);
  await put('abc', 'bytes 0-2/6');
  for (const range of ['bytes 2-4/6', 'bytes 4-5/6', 'bytes 3-5/7'])
    await assert.rejects(put('xyz'.slice(0, range === 'bytes 4-5/6' ? 2 : 3), range), {
      reason: 'Conflict',
      message: /begins at 3, of a file of 6/,
    });
  assert.equal(file.state().receivedBytes, 3);
});

test('another file begins at 0, and is all that is there', async (t) => {
  const { put, folder } = world(t);
  await put('abc', 'bytes 0-2/6');
  assert.equal(readFileSync((await put('whole')) ?? '', 'utf8'), 'whole');
  assert.equal(readdirSync(folder).length, 1);
});

test('more than the PVC has room for, and more or less than was said, is refused', async (t) => {
  const { put } = world(t);
  await assert.rejects(put('abc', 'bytes 0-2/101'), { reason: 'RequestEntityTooLarge', message: /larger than its PVC/ });
  await assert.rejects(put('x'.repeat(200)), { reason: 'RequestEntityTooLarge' });
  await assert.rejects(put('abcd', 'bytes 0-2/6'), { reason: 'BadRequest', message: /more was sent/ });
  await assert.rejects(put('ab', 'bytes 0-2/6'), { reason: 'BadRequest', message: /1 bytes fewer/ });
});

test('who comes next ends a request that stands still', async (t) => {
  const { file, put } = world(t);
  const silent = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('ab')) });
  const headers = { 'content-range': 'bytes 0-5/6' };
  const first = file.take(new Request('https://x/', { method: 'PUT', body: silent, headers, duplex: 'half' } as RequestInit));
  const ended = assert.rejects(first, { message: /another request continues with it/ });
  while (file.state().receivedBytes < 2) await new Promise((done) => setImmediate(done));
  assert.equal(readFileSync((await put('cdef', 'bytes 2-5/6')) ?? '', 'utf8'), 'abcdef');
  await ended;
});

test('who sends while the Pod ends is told to try again, and what has arrived stays', async (t) => {
  const { file } = world(t);
  const ended = new AbortController();
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('abc'));
    },
    pull: () => ended.abort(), // nothing more comes
  });
  const headers = new Headers({ 'content-range': 'bytes 0-5/6' });
  await assert.rejects(file.take({ headers, body, signal: ended.signal }), { reason: 'ServiceUnavailable' });
  assert.deepEqual(file.state(), { receivedBytes: 3, totalBytes: 6 });
});

test('of three who send at once one writes, and the file is what one of them sent', async (t) => {
  const { file, put } = world(t);
  const silent = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('ab')) });
  const headers = { 'content-range': 'bytes 0-5/6' };
  const first = file.take(new Request('https://x/', { method: 'PUT', body: silent, headers, duplex: 'half' } as RequestInit));
  while (file.state().receivedBytes < 2) await new Promise((done) => setImmediate(done));
  const others = ['bbbbbb', 'cccccc', 'dddddd'].map((text) => put(text, 'bytes 0-5/6'));
  const ends = await Promise.allSettled([first, ...others]);
  const paths = ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  assert.equal(paths.length, 1);
  assert.match(readFileSync(paths[0] ?? '', 'utf8'), /^(bbbbbb|cccccc|dddddd)$/);
});

test('a whole file is not taken from under whoever makes a disk of it, until they give it back', async (t) => {
  const { file, put } = world(t);
  const path = (await put('abc', 'bytes 0-2/3')) ?? '';
  await assert.rejects(put('xyz', 'bytes 0-2/3'), { reason: 'Conflict', message: /a disk is being made/ });
  assert.equal(readFileSync(path, 'utf8'), 'abc');
  file.giveBack();
  assert.equal(readFileSync((await put('xyz', 'bytes 0-2/3')) ?? '', 'utf8'), 'xyz');
});
