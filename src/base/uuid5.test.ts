import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { sha1Hex } from './sha1.ts';
import { uuid5 } from './uuid5.ts';

test('sha1 agrees with the platform for every length around the block size', () => {
  for (let length = 0; length < 200; length++) {
    const text = 'é7'.repeat(length).slice(0, length);
    assert.equal(sha1Hex(text), createHash('sha1').update(text).digest('hex'));
  }
});

test('uuid5 gives the published example of RFC 9562', () => {
  assert.equal(uuid5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com'), '2ed6657d-e927-568b-95e1-2665a8aea6a2');
});
