import assert from 'node:assert/strict';
import { test } from 'node:test';
import { base64Of, bytesOfBase64 } from './base64.ts';

test('bytes come back as they were, also a megabyte of them', () => {
  for (const bytes of [new Uint8Array(), Uint8Array.from({ length: 256 }, (_, index) => index), new Uint8Array(1_000_000).fill(0xff)]) {
    assert.equal(base64Of(bytes), Buffer.from(bytes).toString('base64'));
    assert.deepEqual(bytesOfBase64(base64Of(bytes)), bytes);
  }
});
