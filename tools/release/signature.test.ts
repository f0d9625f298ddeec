import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { areSumsSigned, readKeyFile, signSums } from './signature.ts';

const skip = spawnSync('openssl', ['version']).error !== undefined && 'there is no openssl';
const SUMS = Buffer.from(`${'ab'.repeat(32)}  virtctl.mjs\n`);

function keys(make = () => generateKeyPairSync('ed25519')): { publicKey: string; privateKey: string } {
  const { publicKey, privateKey } = make();
  return {
    publicKey: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

test('a signature is good for these sums and this key alone', () => {
  const [own, other] = [keys(), keys()];
  const signature = signSums(SUMS, own.privateKey);
  const cut = signature.subarray(1);
  assert.deepEqual(
    [
      areSumsSigned(SUMS, signature, own.publicKey),
      areSumsSigned(Buffer.concat([SUMS, SUMS]), signature, own.publicKey),
      areSumsSigned(SUMS, signature, other.publicKey),
      areSumsSigned(SUMS, cut, own.publicKey),
      areSumsSigned(SUMS, Buffer.alloc(0), own.publicKey),
    ],
    [true, false, false, false, false],
  );
});

test('openssl finds the signature good, by the line that the page about releases has', { skip }, (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-signature-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { privateKey, publicKey } = keys();
  writeFileSync(join(folder, 'SHA256SUMS'), SUMS);
  writeFileSync(join(folder, 'SHA256SUMS.sig'), signSums(SUMS, privateKey));
  writeFileSync(join(folder, 'release.pub'), publicKey);
  const args = 'pkeyutl -verify -pubin -inkey release.pub -rawin -in SHA256SUMS -sigfile SHA256SUMS.sig'.split(' ');
  assert.match(execFileSync('openssl', args, { cwd: folder, encoding: 'utf8' }), /Signature Verified Successfully/);
});

test('a key of another kind, and what is no key, are refused', () => {
  const rsa = keys(() => generateKeyPairSync('rsa', { modulusLength: 2048 }));
  assert.throws(() => signSums(SUMS, rsa.privateKey), { code: 'KEY_INVALID', message: 'this private key is not for Ed25519' });
  assert.throws(() => areSumsSigned(SUMS, Buffer.alloc(64), 'release.pub'), { code: 'KEY_INVALID', message: 'this is no public key' });
});

test('a key file that cannot be read is named', () => {
  for (const path of [import.meta.dirname, join(import.meta.dirname, 'none.key')])
    assert.throws(() => readKeyFile(path), { code: 'KEY_INVALID', message: `the key ${path} cannot be read` });
});
