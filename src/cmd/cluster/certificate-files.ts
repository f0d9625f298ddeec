/** Certificates that somebody else renews: read from mounted Secrets and read again, so that a rotation needs no restart and breaks no call. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { KeyPair } from '../../base/node/pki-files.ts';

/** A kubelet takes about a minute to bring a changed Secret; looking often costs nothing. */
const LOOK_EVERY_MS = 10_000;

/** The pair `tls.crt` and `tls.key` in a folder; a UserError when it is not there or does not belong together. */
export function readPair(folder: string): KeyPair {
  const pair = { cert: readText(join(folder, 'tls.crt')), key: readText(join(folder, 'tls.key')) };
  if (!belongTogether(pair)) throw unusable(folder, 'tls.crt and tls.key do not belong together');
  return pair;
}

/** The authorities in a file, PEM one after the other. */
export function readBundle(path: string): string {
  const text = readText(path);
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw unusable(path, 'there is no certificate in it');
  return text;
}

export type FollowFilesOptions<T> = {
  readonly read: () => T;
  /** Called with what was read, when it is another than before. */
  readonly onChange: (next: T) => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

/** What `read` gives now, kept up to date until the signal aborts. What cannot be read (just being replaced) leaves the last in use. */
export function followFiles<T>({ read, onChange, clock, log, signal }: FollowFilesOptions<T>): { readonly current: T } {
  const followed = { current: read() };
  void (async () => {
    while (!signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      try {
        const next = read();
        if (JSON.stringify(next) === JSON.stringify(followed.current)) continue;
        followed.current = next;
        onChange(next);
        log.info('new certificates are in use', { because: 'their files changed' });
      } catch (error) {
        log.warn('cannot read the certificates again, the last ones stay in use', { error: messageOf(error) });
      }
    }
  })();
  return followed;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unusable(path, messageOf(error), error);
  }
}

function belongTogether({ cert, key }: KeyPair): boolean {
  try {
    return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
  } catch {
    return false; // not PEM at all
  }
}

function unusable(path: string, why: string, cause?: unknown): UserError {
  return new UserError('CERTIFICATE_UNUSABLE', `Cannot use the certificates at ${path}`, {
    why,
    fix: 'look at the Secrets and ConfigMaps of namespace kubevirt; virt-operator makes those of its components, and its log says why not',
    cause,
  });
}
