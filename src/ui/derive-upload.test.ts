import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataVolumeFor } from '../sdk/upload/upload-objects.ts';
import { deriveImageRows } from './derive-images.ts';
import { interruptedUpload, proposedUpload, type Upload, uploadCommand, uploadsInShort, uploadWords } from './derive-upload.ts';

const MIB = 2 ** 20;
const qcow2 = (diskBytes: number) => {
  const head = Buffer.alloc(32);
  head.writeUInt32BE(0x514649fb);
  head.writeBigUInt64BE(BigInt(diskBytes), 24);
  return head;
};
const sizeFor = (name: string, size: number, head: Uint8Array = new Uint8Array(32)) => proposedUpload('default', { name, size }, head).size;

test('the size of a disk is what its file says', () => {
  assert.equal(sizeFor('debian.qcow2', 300 * MIB, qcow2(2048 * MIB)), '2Gi');
  assert.equal(sizeFor('debian.qcow2', 300 * MIB, qcow2(MIB)), '300Mi');
  assert.equal(sizeFor('disk.img', 10 * MIB + 1), '11Mi');
  assert.equal(sizeFor('disk.img.xz', 10 * MIB), '10Gi');
  assert.equal(sizeFor('short', 5, new Uint8Array(5)), '1Mi');
});

test('a file gives a name, or there is one anyway', () => {
  assert.equal(proposedUpload('default', { name: 'Debian_12.qcow2', size: 1 }, new Uint8Array()).name, 'debian-12');
  assert.equal(proposedUpload('default', { name: '___', size: 1 }, new Uint8Array()).name, 'disk');
});

test('what waits for its file is gone on with, what has a disk is not', () => {
  const target = { namespace: 'default', name: 'debian', size: '1Gi', isBoundAtOnce: true };
  const rows = (phase: 'UploadReady' | 'UploadScheduled' | 'Succeeded') =>
    deriveImageRows([{ ...dataVolumeFor(target), status: { phase } }], [], []);
  assert.deepEqual(
    [rows('UploadReady'), rows('UploadScheduled'), rows('Succeeded'), []].map((each) => interruptedUpload(each, target)),
    [true, true, false, false],
  );
  assert.equal(interruptedUpload(rows('UploadReady'), { namespace: 'other', name: 'debian' }), false);
});

test('the command is the one that does the same, also for a file with an odd name', () => {
  const wish = { namespace: 'team', name: 'debian', size: '2Gi' };
  assert.equal(
    uploadCommand(wish, "it's.img", false),
    `virtctl image-upload dv debian -n team --size 2Gi --force-bind --image-path 'it'\\''s.img'`,
  );
  assert.equal(
    uploadCommand({ ...wish, namespace: 'default' }, 'a.img', true),
    'virtctl image-upload dv debian --no-create --image-path a.img',
  );
});

test('each stage says how far it is and why it stands', () => {
  const upload = (changed: Partial<Upload>): Upload => ({
    ...{ namespace: 'default', name: 'debian', fileName: 'a.img', stage: 'sending', startedAtMs: 0, why: undefined },
    progress: { doneBytes: 10 * MIB, totalBytes: 40 * MIB, resumedBytes: 0 },
    ...changed,
  });
  const words = (changed: Partial<Upload>) => uploadWords(upload(changed), 5000);
  assert.deepEqual(
    [words({}), words({ stage: 'paused' }), words({ stage: 'failed', why: 'no' }), words({ stage: 'beginning', progress: undefined })],
    ['Sending: 25 % · 10 of 40 MiB · 2.0 MiB/s · 15 s left', 'Paused: 25 % · 10 of 40 MiB', 'no', 'Waiting until the disk can be sent'],
  );
  assert.match(words({ progress: { doneBytes: 5, totalBytes: 5, resumedBytes: 0 } }), /the disk is being made/);
  assert.deepEqual(
    [uploadsInShort([upload({})]), uploadsInShort([upload({}), upload({})]), uploadsInShort([upload({ stage: 'paused' })])],
    ['Upload of debian: 25 %', '2 uploads', undefined],
  );
});
