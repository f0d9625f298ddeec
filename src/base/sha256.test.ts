import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Sha256 } from './sha256.ts';

const ofNode = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('every length around the size of a block has the digest that Node says', () => {
  const bytes = randomBytes(200);
  for (let length = 0; length <= bytes.length; length++) {
    const hash = new Sha256();
    hash.update(bytes.subarray(0, length));
    assert.equal(hash.hex(), ofNode(bytes.subarray(0, length)), `${length} bytes`);
  }
});

test('pieces of any size are the same as the whole, and more may come after a digest', () => {
  const bytes = randomBytes(100_000);
  const hash = new Sha256();
  let at = 0;
  for (let size = 1; at < bytes.length; size = (size * 7) % 4099) {
    hash.update(bytes.subarray(at, at + size));
    at += size;
    assert.equal(hash.hex(), ofNode(bytes.subarray(0, at)));
  }
});
