/** Lists of digests as publishers put them beside their files. Pure. */

/** A file of this kind has far less. */
export const MAX_LIST_BYTES = 2 ** 20;
const HEX = { 64: 'sha256', 128: 'sha512' } as const;

/**
 * The digest of a file, as `sha256:HEX` or `sha512:HEX`; undefined when the list does not have it.
 *
 *   HEX  NAME, HEX *NAME       sha256sum, sha512sum; NAME may stand behind a path
 *   SHA256 (NAME) = HEX        the same with --tag
 *   HEX                        a list of one file
 */
export function digestIn(list: string, fileName: string): string | undefined {
  const lines = list
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
  for (const line of lines) {
    const [, plainHex, plainName] = /^([0-9a-fA-F]+)[ \t]+\*?(\S.*)$/.exec(line) ?? [];
    const [, taggedName, taggedHex] = /^SHA(?:256|512) \((.+)\) = ([0-9a-fA-F]+)$/.exec(line) ?? [];
    const [hex, name] = [plainHex ?? taggedHex, plainName ?? taggedName];
    if (hex !== undefined && name?.split('/').at(-1) === fileName) {
      const digest = digestOf(hex);
      if (digest) return digest;
    }
  }
  const [only, ...others] = lines;
  return only !== undefined && others.length === 0 ? digestOf(only) : undefined;
}

function digestOf(hex: string): string | undefined {
  const algorithm = HEX[hex.length as keyof typeof HEX] as string | undefined; // other lengths are of other kinds
  return algorithm && /^[0-9a-fA-F]+$/.test(hex) ? `${algorithm}:${hex.toLowerCase()}` : undefined;
}
