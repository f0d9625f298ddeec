/** The key with which this machine's user logs in to guests: made once, kept in the data folder. */
import { generateKeyPairSync, randomInt, randomUUID } from 'node:crypto';
import { link, mkdir, open, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { UserError } from '../../base/errors.ts';
import { formatPrivateKey, formatPublicKey, publicKeyIn } from './openssh-key.ts';

export type SshKey = {
  readonly privateKeyPath: string;
  /** A line for authorized_keys, without an end of line. */
  readonly publicKey: string;
};

const COMMENT = 'virtctl';

/** Where it is, or would be, under $VIRT_HOME. */
export function sshKeyPath(home: string): string {
  return join(home, 'ssh', 'id_ed25519');
}

/** The key of this data folder, made when there is none; throws UserError when the file is none of ours. */
export async function ensureSshKey(home: string): Promise<SshKey> {
  const path = sshKeyPath(home);
  return (await readSshKey(home)) ?? read(path, await make(path));
}

/** The key of this data folder, when there is one. */
export async function readSshKey(home: string): Promise<SshKey | undefined> {
  const path = sshKeyPath(home);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : read(path, text);
}

function read(path: string, text: string): SshKey {
  const publicKey = publicKeyIn(text);
  if (!publicKey)
    throw new UserError('SSH_KEY_DAMAGED', `the key ${path} cannot be used`, {
      why: 'it is not an Ed25519 key in the format of OpenSSH',
      fix: 'restore the file, or delete it to get a new key: machines that know the old one alone need the new one, too',
      exitCode: 7,
    });
  return { privateKeyPath: path, publicKey: formatPublicKey({ publicKey, comment: COMMENT }) };
}

/** The content of the file: ours, or that of whoever was faster. A name is given to a whole file only, and to the first one. */
async function make(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const text = newPrivateKey();
  const temporary = `${path}.${randomUUID()}.tmp`;
  try {
    await writeAndSync(temporary, text);
    await link(temporary, path);
    return text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return readFile(path, 'utf8');
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeAndSync(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

function newPrivateKey(): string {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const [seed, publicKey] = [Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url')];
  return formatPrivateKey({ seed, publicKey, comment: COMMENT }, randomInt(2 ** 32));
}
