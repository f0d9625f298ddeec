import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import type { UploadState } from '../../api/importer/upload.ts';
import { ApiError } from '../../base/errors.ts';
import { Sha256 } from '../../base/sha256.ts';
import { nextByte, type SendOptions, sendDisk } from './send-disk.ts';

const BYTES = Buffer.alloc(1_000_000, 'a disk of letters ');
const DIGEST = createHash('sha256').update(BYTES).digest('hex');
const clock = { now: () => 0, steady: () => performance.now(), sleep: async () => {} };

/** A PVC that keeps what it got; `trouble` is asked before each piece. */
function receiver(trouble: (piece: number) => Error | undefined = () => undefined, before = 0) {
  const ranges: string[] = [];
  let received = before;
  const request: SendOptions['client']['request'] = async (_, init) => {
    const state = (stage: UploadState['stage']) => Response.json({ stage, receivedBytes: received, totalBytes: BYTES.length });
    if (init?.method !== 'PUT') return state(received === BYTES.length ? 'done' : 'receiving');
    const headers = new Headers(init.headers);
    ranges.push(headers.get('content-range') ?? '');
    const error = trouble(ranges.length);
    if (error) throw error;
    const [, from, to] = /^bytes (\d+)-(\d+)\//.exec(ranges.at(-1) ?? '') ?? [];
    assert.equal(Number(from), received);
    assert.deepEqual(Buffer.from(init.body as Uint8Array), BYTES.subarray(Number(from), Number(to) + 1));
    received = Number(to) + 1;
    if (received < BYTES.length) return state('receiving');
    assert.equal(headers.get('x-kubevirt-sha256'), DIGEST);
    return state('done');
  };
  return { client: { request }, ranges };
}

const send = (client: SendOptions['client'], more: Partial<SendOptions> = {}) =>
  sendDisk({
    client,
    clock,
    namespace: 'default',
    name: 'disk',
    disk: { label: 'disk.img', sizeBytes: BYTES.length, read: async (from, length) => new Uint8Array(BYTES.subarray(from, from + length)) },
    newDigest: () => new Sha256(),
    signal: new AbortController().signal,
    onProgress: () => {},
    ...more,
  });

test('a disk arrives in pieces, with the digest of the whole', async () => {
  const { client, ranges } = receiver();
  assert.deepEqual(await send(client), { resumedBytes: 0 });
  assert.deepEqual(ranges, ['bytes 0-262143/1000000', 'bytes 262144-786431/1000000', 'bytes 786432-999999/1000000']);
});

test('what had arrived is not sent again, and is part of the digest', async () => {
  const { client, ranges } = receiver(undefined, 900_000);
  assert.deepEqual(await send(client), { resumedBytes: 900_000 });
  assert.deepEqual(ranges, ['bytes 900000-999999/1000000']);
});

test('after a lost connection it goes on where the PVC says', async () => {
  const { client, ranges } = receiver((piece) => (piece === 2 ? new TypeError('failed to fetch') : undefined));
  await send(client);
  assert.deepEqual(ranges.slice(1, 3), ['bytes 262144-786431/1000000', 'bytes 262144-786431/1000000']);
});

test('a cluster may be away for more than a minute', async () => {
  let sleptMs = 0;
  const sleep = async (ms: number) => {
    sleptMs += ms;
  };
  const counting = { ...clock, sleep };
  const away = (untilMs: number) => receiver(() => (sleptMs < untilMs ? new TypeError('failed to fetch') : undefined)).client;
  await send(away(60_000), { clock: counting });
  sleptMs = 0;
  await assert.rejects(send(away(Infinity), { clock: counting }), { message: 'failed to fetch' });
  assert.equal(sleptMs < 120_000, true);
});

test('what is no disk is refused with the reason, what is not there any more and what was ended are not tried again', async () => {
  const invalid = receiver(() => new ApiError('Invalid', 'an overlay of another file'));
  await assert.rejects(send(invalid.client), { code: 'UPLOAD_REFUSED', why: 'an overlay of another file' });
  const gone = receiver(() => new ApiError('NotFound', 'no PVC'));
  await assert.rejects(send(gone.client), { reason: 'NotFound' });
  const pause = new AbortController();
  const paused = receiver((piece) => {
    if (piece === 2) pause.abort(new Error('paused'));
    return pause.signal.aborted ? (pause.signal.reason as Error) : undefined;
  });
  await assert.rejects(send(paused.client, { signal: pause.signal }), { message: 'paused' });
  assert.equal(paused.ranges.length, 2);
});

test('a PVC without room is told once, with what to do, and the upload goes on when there is some', async () => {
  const full = receiver((piece) =>
    piece === 2 ? new ApiError('InternalError', 'the storage of the PVC is full', { code: 507 }) : undefined,
  );
  await assert.rejects(send(full.client), { code: 'UPLOAD_NO_ROOM', why: 'the storage of the PVC is full', fix: /make room/ });
  assert.equal(full.ranges.length, 2);
  assert.deepEqual(await send(full.client), { resumedBytes: 262_144 });
});

test('a file that became shorter is not sent', async () => {
  const disk = { label: 'disk.img', sizeBytes: BYTES.length + 1, read: async () => new Uint8Array(3) };
  await assert.rejects(send(receiver().client, { disk }), { code: 'FILE_CHANGED' });
});

test('a file of another size begins anew', () => {
  const state: UploadState = { stage: 'receiving', receivedBytes: 5, totalBytes: 10 };
  assert.deepEqual([nextByte(state, 10), nextByte(state, 11), nextByte({ stage: 'waiting', receivedBytes: 0 }, 10)], [5, 0, 0]);
});
