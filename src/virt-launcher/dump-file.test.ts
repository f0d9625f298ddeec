import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DumpWriter } from './dump-file.ts';

const END = 'e'.repeat(32);
const head = { fileName: 'db-dump-20261118-030405.memory.dump', bytes: 2 ** 20, end: END };

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'dump-file-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('a dump that is whole has its name and every byte, without its mark; zeros take no room', (t) => {
  const folder = folderOf(t);
  const content = Buffer.concat([Buffer.from('begin'), Buffer.alloc(700_000), Buffer.from('end')]);
  const writer = new DumpWriter(folder, head);
  const stream = Buffer.concat([content, Buffer.from(END)]);
  for (let at = 0; at < stream.length; at += 10_007) writer.take(stream.subarray(at, at + 10_007));
  assert.equal(writer.finish(), content.length);
  assert.deepEqual(readdirSync(folder), [head.fileName]);
  assert.deepEqual(readFileSync(join(folder, head.fileName)), content);
  assert.ok(statSync(join(folder, head.fileName)).blocks * 512 < content.length / 2);
});

test('the mark may come in pieces', (t) => {
  const folder = folderOf(t);
  const writer = new DumpWriter(folder, head);
  for (const piece of ['abc', END.slice(0, 5), END.slice(5)]) writer.take(Buffer.from(piece));
  assert.equal(writer.finish(), 3);
});

test('one that is cut off, or larger than it can be, leaves nothing, and the last one stays', (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, 'old.memory.dump'), 'old');
  const cut = new DumpWriter(folder, head);
  cut.take(Buffer.from(`abc${END.slice(1)}`));
  assert.throws(() => cut.finish(), /cut off/);
  cut.giveUp();
  const endless = new DumpWriter(folder, head);
  assert.throws(() => endless.take(Buffer.alloc(head.bytes + 33)), /larger than 1 MiB/);
  endless.giveUp();
  assert.deepEqual(readdirSync(folder), ['old.memory.dump']);
});

test('the last one goes when the new one is whole; what a killed writer left goes at once', (t) => {
  const folder = folderOf(t);
  for (const name of ['old.memory.dump', 'memory.dump.part', 'notes.txt']) writeFileSync(join(folder, name), 'old');
  const writer = new DumpWriter(folder, head);
  writer.take(Buffer.from(`abc${END}`));
  assert.deepEqual(readdirSync(folder).toSorted(), ['memory.dump.part', 'notes.txt', 'old.memory.dump']);
  writer.finish();
  assert.deepEqual(readdirSync(folder).toSorted(), [head.fileName, 'notes.txt']);
});

test('a PVC without room for it, and the disk of a machine, are refused before anything is written', (t) => {
  const folder = folderOf(t);
  assert.throws(() => new DumpWriter(folder, { ...head, bytes: 2 ** 60 }), /the PVC has \d+ MiB left, the dump needs \d+ MiB/);
  writeFileSync(join(folder, 'disk.img'), 'disk');
  assert.throws(() => new DumpWriter(folder, head), /the disk of a machine/);
  assert.deepEqual(readdirSync(folder), ['disk.img']);
});
