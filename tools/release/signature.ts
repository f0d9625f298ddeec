/** The signature of a release: Ed25519 over the bytes of SHA256SUMS, in a file beside it, as openssl makes and reads it. */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { messageOf, UserError } from '../../src/base/errors.ts';

const NEW_KEY = 'openssl genpkey -algorithm ed25519 -out release.key; openssl pkey -in release.key -pubout -out release.pub';

/** The signature, 64 bytes. */
export function signSums(sums: Buffer, privateKeyPem: string): Buffer {
  return sign(null, sums, readKey(createPrivateKey, privateKeyPem, 'private'));
}

/** Whether the owner of the key has signed exactly these sums. */
export function areSumsSigned(sums: Buffer, signature: Buffer, publicKeyPem: string): boolean {
  return verify(null, sums, readKey(createPublicKey, publicKeyPem, 'public'), signature);
}

/** The text of a key file; the reason when it cannot be read. */
export function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UserError('KEY_INVALID', `the key ${path} cannot be read`, { why: messageOf(cause), fix: NEW_KEY, cause });
  }
}

function readKey(read: (pem: string) => KeyObject, pem: string, kind: 'private' | 'public'): KeyObject {
  let key: KeyObject;
  try {
    key = read(pem);
  } catch (cause) {
    throw new UserError('KEY_INVALID', `this is no ${kind} key`, {
      why: 'it cannot be read as PEM without a password',
      fix: NEW_KEY,
      cause,
    });
  }
  if (key.asymmetricKeyType === 'ed25519') return key;
  throw new UserError('KEY_INVALID', `this ${kind} key is not for Ed25519`, {
    why: `it is of type ${key.asymmetricKeyType}`,
    fix: NEW_KEY,
  });
}
