/**
 * What is needed of the description (OVF) and the manifest of a machine in an archive: which file is its disk, and what digests files have. Whoever made the
 * archive wrote them, so they are read by patterns that take time in proportion to the text. Pure.
 */

export type Digest = { readonly algorithm: 'sha1' | 'sha256' | 'sha512'; readonly hex: string };

/** Elements are told by their local names: who writes them chooses the prefixes. An attribute has no "<" in it. */
const FILE = /<(?:[\w.-]{1,40}:)?File(\s[^<>]{0,4096})>/g;
const DISK = /<(?:[\w.-]{1,40}:)?Disk(\s[^<>]{0,4096})>/g;
const ATTRIBUTE = /\s(?:[\w.-]{1,40}:)?(\w{1,40})="([^"]{0,2000})"/g;
const LINE = /^(SHA1|SHA256|SHA512) ?\((.{1,255})\) ?= ?([0-9a-f]{40,128})\s*$/i;
const ENTITIES: readonly (readonly [string, string])[] = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&amp;', '&'],
];

/** The file of the first disk that has one, or why there is none. */
export function diskFileIn(ovf: string): { readonly name: string } | { readonly why: string } {
  const text = withoutComments(ovf);
  const names = new Map(elements(text, FILE).map((file) => [file.get('id'), file.get('href')]));
  const disk = elements(text, DISK).find((each) => each.has('fileRef'));
  if (!disk) return { why: 'its description names no disk' };
  if (disk.has('parentRef')) return { why: 'its disk is what has changed of another one' };
  const name = names.get(disk.get('fileRef'));
  return name === undefined ? { why: 'its description does not say which file its disk is' } : { name };
}

/** By file. */
export function digestsIn(manifest: string): ReadonlyMap<string, Digest> {
  const found = manifest.split('\n').flatMap((line): [string, Digest][] => {
    const [, algorithm = '', name, hex = ''] = LINE.exec(line) ?? [];
    const known = algorithm.toLowerCase() as Digest['algorithm']; // as the pattern says
    return name === undefined ? [] : [[name, { algorithm: known, hex: hex.toLowerCase() }]];
  });
  return new Map(found);
}

function elements(text: string, pattern: RegExp): ReadonlyMap<string, string>[] {
  return [...text.matchAll(pattern)].map(
    ([, attributes = '']) => new Map([...attributes.matchAll(ATTRIBUTE)].map(([, name = '', value = '']) => [name, decoded(value)])),
  );
}

function decoded(value: string): string {
  return ENTITIES.reduce((text, [entity, character]) => text.replaceAll(entity, character), value);
}

function withoutComments(text: string): string {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('<!--', at);
    parts.push(text.slice(at, start < 0 ? text.length : start));
    const end = start < 0 ? -1 : text.indexOf('-->', start);
    at = end < 0 ? text.length : end + 3;
  }
  return parts.join('');
}
