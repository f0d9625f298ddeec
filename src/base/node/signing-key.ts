/** The key that signs tokens of service accounts: made once, kept for the life of the cluster. */
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { UserError } from '../errors.ts';
import { writeFileDurably } from './durable-file.ts';
import { readIfThere } from './read-if-there.ts';

const FILE = 'service-accounts.key';

/** The private key (EC P-256, PEM) in the folder, made when there is none; throws UserError when it is damaged. */
export async function ensureSigningKey(folder: string): Promise<string> {
  const path = join(folder, FILE);
  const found = await readIfThere(path);
  if (found === undefined) {
    const made = newSigningKey();
    await writeFileDurably(path, made);
    return made;
  }
  if (isUsable(found)) return found;
  throw new UserError('PKI_DAMAGED', `The key ${path} cannot be used`, {
    why: 'it is not a P-256 private key',
    fix: 'restore the file, or delete it to get a new key (running Pods get new tokens, all others are then useless)',
  });
}

/** A new private key in the form in which it is kept. */
export function newSigningKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function isUsable(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false; // not PEM at all
  }
}
