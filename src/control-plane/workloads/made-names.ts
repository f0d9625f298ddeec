/**
 * Names for what a controller makes: the first ones of a list that follows from the owner which nobody has. Whoever decides on an old picture (a
 * cache that is behind, a controller that was killed between its write and its next look) asks for names that are there already, and the
 * server says so. A name comes again when what had it is gone. Pure.
 */
import type { KubeObject } from '../../api/meta.ts';
import { sha1 } from '../../base/sha1.ts';

/** As Kubernetes: no vowels and nothing that looks like another, so that no words come out. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;
/** What Kubernetes keeps of a prefix, so that the whole fits a label. */
const LONGEST_PREFIX = 58;

export type NamesWanted = {
  readonly owner: KubeObject;
  /** `web-`; the name of the owner and a dash when not given. */
  readonly prefix?: string;
  /** What the owner has already. */
  readonly present: readonly KubeObject[];
  /** Names that others have. */
  readonly taken?: ReadonlySet<string>;
  readonly count: number;
};

/** So many names that nobody has. */
export function madeNames({ owner, prefix = `${owner.metadata.name}-`, present, taken, count }: NamesWanted): string[] {
  const start = prefix.slice(0, LONGEST_PREFIX);
  const used = new Set(present.map(({ metadata }) => metadata.name));
  const names: string[] = [];
  for (let n = 0; names.length < count; n += 1) {
    const name = start + encodedHash(`${owner.metadata.uid} ${n}`, SUFFIX_LENGTH);
    if (used.has(name) || taken?.has(name)) continue;
    used.add(name);
    names.push(name);
  }
  return names;
}

/** A text of these few characters for any text. */
export function encodedHash(text: string, length: number): string {
  const digest = sha1(new TextEncoder().encode(text));
  return Array.from(digest.subarray(0, length), (byte) => ALPHABET[byte % ALPHABET.length]).join('');
}
