/** The public keys in a Secret: one entry may hold several, a line each. Pure. */
import { createHash } from 'node:crypto';
import { UserError } from '../../base/errors.ts';

/** The values of a Secret, as base64. */
type Data = Readonly<Record<string, string>>;
/** A merge patch of them. */
type DataPatch = Record<string, string | null>;

/** One public key in one line; throws a UserError for anything else. */
export function parsePublicKey(text: string): string {
  const key = text.trim();
  if (/^(ssh|ecdsa|sk)-\S+ [A-Za-z0-9+/=]+( [^\r\n]*)?$/.test(key)) return key;
  throw new UserError('USAGE', 'this is not a public key of ssh', {
    why: key.includes('PRIVATE KEY')
      ? 'it is a private one, which nobody else should have'
      : 'one line such as "ssh-ed25519 AAAA... name" is meant',
    fix: 'give the file that ends in .pub',
    exitCode: 2,
  });
}

/** What adds the key; undefined when it is there. The entry's name follows from the key, so that adding it twice is adding it once. */
export function addKey(data: Data, key: string): DataPatch | undefined {
  if (entriesWith(data, key).length > 0) return undefined;
  const name = `ssh-key-${createHash('sha256').update(bodyOf(key)).digest('hex').slice(0, 10)}`;
  return { [name]: encode(`${key}\n`) };
}

/** What takes the key away, wherever it stands; undefined when it is not there. */
export function removeKey(data: Data, key: string): DataPatch | undefined {
  const entries = entriesWith(data, key).map((name): [string, string | null] => {
    const rest = linesOf(data[name]).filter((line) => bodyOf(line) !== bodyOf(key));
    return [name, rest.some((line) => line.trim() !== '') ? encode(rest.join('\n')) : null];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

export function encode(text: string): string {
  return Buffer.from(text).toString('base64');
}

function entriesWith(data: Data, key: string): string[] {
  return Object.keys(data).filter((name) => linesOf(data[name]).some((line) => bodyOf(line) === bodyOf(key)));
}

function linesOf(value = ''): string[] {
  return Buffer.from(value, 'base64').toString('utf8').split('\n');
}

/** Type and key; the name behind them is a comment. */
function bodyOf(line: string): string {
  return line.trim().split(/\s+/).slice(0, 2).join(' ');
}
