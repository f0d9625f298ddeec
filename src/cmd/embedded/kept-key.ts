/** A secret that is made once and kept in a file. */
import { randomBytes } from 'node:crypto';
import { writeFileDurablySync } from '../../base/node/durable-file.ts';
import { readIfThereSync } from '../../base/node/read-if-there.ts';

const KEY = /^[\w-]{43}$/;

/** 32 random bytes, as text. */
export function newKey(): string {
  return randomBytes(32).toString('base64url');
}

/** What is in the file; a new one where that is no whole key, such as the end of a disk that was full: anybody could guess that. */
export function keptKey(path: string): string {
  const kept = readIfThereSync(path);
  if (kept !== undefined && KEY.test(kept)) return kept;
  const made = newKey();
  writeFileDurablySync(path, made);
  return made;
}
