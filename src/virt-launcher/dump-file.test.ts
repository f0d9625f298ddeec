import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { DumpWriter } from './dump-file.ts';

const END = 'e'.repeat(32);
const OLD = 'db-dump-20261117-030405.memory.dump';
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

test('without room nothing of it is there, and what a killed writer of another machine left made room', (t) => {
  const folder = folderOf(t);
  const [dead, living] = ['web-dump-20261116-030405.memory.dump.part', 'mail-dump-20261118-030404.memory.dump.part'];
  for (const name of [dead, living]) writeFileSync(join(folder, name), 'half');
  utimesSync(join(folder, dead), 1, 1);
  assert.throws(() => new DumpWriter(folder, { ...head, bytes: 2 ** 60 }), /the PVC has/);
  assert.deepEqual(readdirSync(folder), [living]);
});

test('one that is cut off, or larger than it can be, leaves nothing, and the last one stays', (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, OLD), 'old');
  const cut = new DumpWriter(folder, head);
  cut.take(Buffer.from(`abc${END.slice(1)}`));
  assert.throws(() => cut.finish(), /cut off/);
  cut.giveUp();
  const endless = new DumpWriter(folder, head);
  assert.throws(() => endless.take(Buffer.alloc(head.bytes + 33)), /larger than 1 MiB/);
  endless.giveUp();
  assert.deepEqual(readdirSync(folder), [OLD]);
});

test('the last one goes when the new one is whole; what a killed writer left goes at once', (t) => {
  const folder = folderOf(t);
  for (const name of [OLD, `${OLD}.part`, 'notes.txt']) writeFileSync(join(folder, name), 'old');
  const writer = new DumpWriter(folder, head);
  writer.take(Buffer.from(`abc${END}`));
  assert.deepEqual(readdirSync(folder).toSorted(), [OLD, `${head.fileName}.part`, 'notes.txt']);
  writer.finish();
  assert.deepEqual(readdirSync(folder).toSorted(), [head.fileName, 'notes.txt']);
});

test('machines that are dumped to one PVC at the same time do not meet, and keep their last dumps', (t) => {
  const folder = folderOf(t);
  const others = ['db-dump-2-dump-20261118-030405.memory.dump', 'web-dump-20261117-030405.memory.dump'];
  for (const name of others) writeFileSync(join(folder, name), 'old');
  const first = new DumpWriter(folder, head);
  first.take(Buffer.from(`first${END}`));
  const second = new DumpWriter(folder, { ...head, fileName: 'web-2-dump-20261118-030405.memory.dump' });
  second.take(Buffer.from(`second${END}`));
  new DumpWriter(folder, { ...head, fileName: 'mail-dump-20261118-030405.memory.dump' }).giveUp();
  second.finish();
  first.finish();
  assert.deepEqual(readdirSync(folder).toSorted(), [head.fileName, ...others, 'web-2-dump-20261118-030405.memory.dump'].toSorted());
  assert.equal(readFileSync(join(folder, head.fileName), 'utf8'), 'first');
});

test('there being no room, it is refused with the figures, and the last dump stays, of this machine as of others', (t) => {
  const folder = folderOf(t);
  const last = [OLD, 'web-dump-20261117-030405.memory.dump'];
  for (const name of last) writeFileSync(join(folder, name), 'old');
  const why =
    /^Error: the PVC has \d+ MiB left, the dump needs \d+ MiB besides db-dump-20261117-030405\.memory\.dump, which stays until this one is whole/;
  assert.throws(() => new DumpWriter(folder, { ...head, bytes: 2 ** 60 }), why);
  assert.deepEqual(readdirSync(folder).toSorted(), last);
});

test('it is for the group of the PVC, whatever the process takes away', (t) => {
  const folder = folderOf(t);
  const before = process.umask(0o077);
  t.after(() => process.umask(before));
  const writer = new DumpWriter(folder, head);
  writer.take(Buffer.from(END));
  writer.finish();
  assert.equal(statSync(join(folder, head.fileName)).mode & 0o777, 0o660);
});

test('a PVC without room for it, and the disk of a machine, are refused before anything is written', (t) => {
  const folder = folderOf(t);
  assert.throws(() => new DumpWriter(folder, { ...head, bytes: 2 ** 60 }), /the PVC has \d+ MiB left, the dump needs \d+ MiB/);
  writeFileSync(join(folder, 'disk.img'), 'disk');
  assert.throws(() => new DumpWriter(folder, head), /the disk of a machine/);
  assert.deepEqual(readdirSync(folder), ['disk.img']);
});
