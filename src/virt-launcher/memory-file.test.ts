import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MEMORY_FILE, MemoryWriter, openMemory } from './memory-file.ts';

const SAVED = { machine: 'm', qemu: '7.2.22', accelerator: 'tcg' };
const CONTENT = Buffer.from('what the guest knew'.repeat(100_000));

function saved() {
  const folder = mkdtempSync(join(tmpdir(), 'memory-'));
  const writer = new MemoryWriter(folder, SAVED);
  writer.take(CONTENT.subarray(0, 7));
  writer.take(CONTENT.subarray(7));
  return { folder, ...writer.finish(), [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

test('what was saved is read from where the stream begins', () => {
  using memory = saved();
  const file = openMemory(memory.folder, { ...SAVED, digest: memory.digest });
  const bytes = Buffer.alloc(CONTENT.length + 1);
  assert.equal(readSync(file, bytes, 0, bytes.length, null), CONTENT.length);
  closeSync(file);
  assert.ok(bytes.subarray(0, CONTENT.length).equals(CONTENT));
});

const REFUSED: readonly [string, object, RegExp][] = [
  ['another QEMU', { qemu: '9.0.0' }, /saved by QEMU 7.2.22, and here is QEMU 9.0.0/],
  ['another acceleration', { accelerator: 'kvm' }, /saved with tcg, and here is kvm/],
  ['other devices', { machine: 'n' }, /other devices/],
  ['other memory', { digest: 'x' }, /other memory than that which was saved/],
];

for (const [name, other, why] of REFUSED) {
  test(`memory is not loaded by ${name}`, () => {
    using memory = saved();
    assert.throws(() => openMemory(memory.folder, { ...SAVED, digest: memory.digest, ...other }), { code: 'RESUME_REFUSED', why });
  });
}

test('one changed byte is noticed', () => {
  using memory = saved();
  const file = openSync(join(memory.folder, MEMORY_FILE), 'r+');
  writeSync(file, 'X', 5000);
  closeSync(file);
  assert.throws(() => openMemory(memory.folder, { ...SAVED, digest: memory.digest }), { why: /damaged/ });
});

test('what did not come to its end has no name, and a file of somebody else is refused', () => {
  using memory = saved();
  const before = readFileSync(join(memory.folder, MEMORY_FILE));
  const writer = new MemoryWriter(memory.folder, SAVED);
  writer.take(Buffer.from('half'));
  writer.giveUp();
  assert.ok(readFileSync(join(memory.folder, MEMORY_FILE)).equals(before));
  rmSync(join(memory.folder, MEMORY_FILE));
  assert.throws(() => openMemory(memory.folder, { ...SAVED, digest: memory.digest }), { why: /is not on the PVC/ });
});
