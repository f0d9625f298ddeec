/** Names for what people did not name. */
import { randomInt } from 'node:crypto';

/** As Kubernetes does it: no vowels, so that no words come out. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** `prefix-` and five random characters. */
export function randomName(prefix: string): string {
  return `${prefix}-${Array.from({ length: 5 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')}`;
}
