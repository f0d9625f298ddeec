import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { vm } from '../../testing/builders.ts';
import { MachineFileWriter, readMachineFile } from './machine-file.ts';
import { readTarHeader, tarHeader } from './tar-header.ts';

const { signal } = new AbortController();
const bytes = Buffer.alloc(10_000, 'disk');

async function written(t: TestContext, disks: readonly string[] = ['root', 'data']): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'machine-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'db.tar');
  const file = await open(path, 'w');
  const writer = new MachineFileWriter(file);
  const { metadata, spec } = vm('Halted');
  await writer.machine({ metadata: { name: metadata.name }, spec });
  async function* pieces() {
    yield { packed: gzipSync(bytes.subarray(0, 5000)), totalBytes: bytes.length };
    yield { packed: gzipSync(bytes.subarray(5000)), totalBytes: bytes.length };
  }
  for (const name of disks) await writer.disk(name, pieces());
  await writer.end();
  await file.close();
  return path;
}

test('a machine is read as it was written, and any tar can unpack it', async (t) => {
  const path = await written(t);
  const { machine, disks } = await readMachineFile(path, signal);
  assert.equal(machine.metadata.name, 'db');
  assert.deepEqual(
    disks.map(({ name, diskBytes }) => [name, diskBytes]),
    [
      ['root', bytes.length],
      ['data', bytes.length],
    ],
  );
  const [{ part } = assert.fail()] = disks;
  assert.deepEqual(gunzipSync(readFileSync(path).subarray(part.at, part.at + part.bytes)), bytes);
  assert.deepEqual(execFileSync('tar', ['tf', path], { encoding: 'utf8' }).trim().split('\n'), [
    'machine.json',
    'disks/0.img.gz',
    'disks/1.img.gz',
    'index.json',
  ]);
  assert.deepEqual(gunzipSync(execFileSync('tar', ['xOf', path, 'disks/1.img.gz'])), bytes);
});

test('sizes of all lengths are kept', () => {
  for (const size of [0, 1, 8 ** 11 - 1, 8 ** 11, 2 ** 45])
    assert.deepEqual(readTarHeader(tarHeader({ name: 'a', bytes: size })), { name: 'a', bytes: size });
  assert.equal(readTarHeader(Buffer.alloc(512)), undefined);
});

test('one bit anywhere, and a missing end, are noticed', async (t) => {
  const path = await written(t, ['root']);
  const whole = readFileSync(path);
  const [{ part } = assert.fail()] = (await readMachineFile(path, signal)).disks;
  for (const at of [0, 130, 600, part.at + 20, part.at + part.bytes - 1, part.at - 500]) {
    const broken = Buffer.from(whole);
    broken[at] = (broken[at] ?? 0) ^ 1;
    writeFileSync(path, broken);
    await assert.rejects(readMachineFile(path, signal), { code: 'FILE_DAMAGED' }, `bit at ${at}`);
  }
  for (const length of [0, 511, 512, 1024, whole.length - 1025, whole.length - 2000]) {
    writeFileSync(path, whole);
    truncateSync(path, length);
    await assert.rejects(readMachineFile(path, signal), { code: 'FILE_DAMAGED' }, `cut at ${length}`);
  }
});

/** An archive of these entries, as somebody with bad intentions makes it. */
function forged(entries: readonly (readonly [header: Buffer, content: string])[]): Buffer {
  const blocks = entries.map(([header, content]) =>
    Buffer.concat([header, Buffer.from(content.padEnd(Math.ceil(content.length / 512) * 512, '\0'))]),
  );
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function changedHeader(name: string, size: number, change: (header: Buffer) => void): Buffer {
  const header = tarHeader({ name, bytes: size });
  change(header);
  header.fill(0x20, 148, 156);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}

test('what nobody exports is refused: links, other names, sizes that are not there, indexes of something else', async (t) => {
  const path = await written(t, ['root']);
  const machine = JSON.stringify({ format: 'kubevirt-ts machine 1', machine: { metadata: { name: 'x' }, spec: { template: {} } } });
  const index = (value: object) => [tarHeader({ name: 'index.json', bytes: JSON.stringify(value).length }), JSON.stringify(value)] as const;
  const first = [tarHeader({ name: 'machine.json', bytes: machine.length }), machine] as const;
  const entry = (name: string) => ({ name, bytes: 1, sha256: '0'.repeat(64) });
  const bad: Readonly<Record<string, Buffer>> = {
    'a link': forged([
      first,
      [changedHeader('disks/0.img.gz', 0, (header) => header.write('2/etc/passwd', 156)), ''],
      index({ entries: [], disks: [] }),
    ]),
    'a folder above': forged([
      first,
      [tarHeader({ name: '../../x', bytes: 1 }), 'x'],
      index({ entries: [entry('machine.json'), entry('../../x')], disks: [{ name: 'd', diskBytes: 1 }] }),
    ]),
    'a prefix': forged([first, [changedHeader('x', 0, (header) => header.write('/etc', 345)), '']]),
    'a size behind the end': forged([first, [tarHeader({ name: 'disks/0.img.gz', bytes: 2 ** 50 }), 'x']]),
    'a size that is negative': forged([first, [changedHeader('disks/0.img.gz', 0, (header) => header.write('-0000000001', 124)), 'x']]),
    'no index': forged([first]),
    'an index that is no JSON': forged([first, [tarHeader({ name: 'index.json', bytes: 2 }), '{x']]),
    'an index of another file': forged([
      first,
      index({ entries: [entry('machine.json'), entry('disks/0.img.gz')], disks: [{ name: 'd', diskBytes: 1 }] }),
    ]),
    'a disk of all space': forged([first, index({ entries: [entry('machine.json')], disks: [{ name: 'd', diskBytes: 2 ** 52 }] })]),
    'a disk named ..': forged([first, index({ entries: [entry('machine.json')], disks: [{ name: '..', diskBytes: 1 }] })]),
    'two machines': forged([first, first, index({ entries: [entry('machine.json'), entry('machine.json')], disks: [] })]),
    'a thousand entries': forged(Array.from({ length: 1000 }, () => first)),
  };
  for (const [what, content] of Object.entries(bad)) {
    writeFileSync(path, content);
    await assert.rejects(readMachineFile(path, signal), { code: 'FILE_DAMAGED' }, what);
  }
});
