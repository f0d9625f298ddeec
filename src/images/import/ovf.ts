/**
 * What is needed of the description (OVF) and the manifest of a machine in an archive: which file is its disk, and what digests files have. Whoever made the
 * archive wrote them, so they are read by patterns that take time in proportion to the text. Pure.
 */

export type Digest = { readonly algorithm: 'sha1' | 'sha256' | 'sha512'; readonly hex: string };

/** Elements are told by their local names: who writes them chooses the prefixes. An attribute has no "<" in it. */
const FILE = /<(?:[\w.-]{1,40}:)?File(\s[^<>]{0,4096})>/g;
const DISK = /<(?:[\w.-]{1,40}:)?Disk(\s[^<>]{0,4096})>/g;
const ATTRIBUTE = /\s(?:[\w.-]{1,40}:)?(\w{1,40})\s{0,20}=\s{0,20}(?:"([^"]{0,2000})"|'([^']{0,2000})')/g;
const LINE = /^(SHA1|SHA256|SHA512) ?\((.{1,255})\) ?= ?([0-9a-f]{40,128})\s*$/i;
const ENTITIES: readonly (readonly [string, string])[] = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&amp;', '&'],
];

export type Disks = {
  /** What the file of the first disk that has one may be called: an address, as the standard has it, or a name as it is. */
  readonly first: readonly string[];
  /** The files of the other disks. */
  readonly others: readonly string[];
};

/** Which files the disks are, or why the first is not to be had. */
export function disksIn(ovf: string): Disks | { readonly why: string } {
  const text = withoutComments(ovf);
  const names = new Map(elements(text, FILE).map((file) => [file.get('id'), file.get('href')]));
  const [disk, ...others] = elements(text, DISK).filter((each) => each.has('fileRef'));
  if (!disk) return { why: 'its description names no disk' };
  if (disk.has('parentRef')) return { why: 'its disk is what has changed of another one' };
  const name = names.get(disk.get('fileRef'));
  if (name === undefined) return { why: 'its description does not say which file its disk is' };
  const first = [...new Set([name, fileNameIn(name)])];
  const named = others.flatMap((each) => names.get(each.get('fileRef')) ?? []).map(fileNameIn);
  return { first, others: [...new Set(named)].filter((each) => !first.includes(each)) };
}

/** What is wrongly written as an address is a name. */
function fileNameIn(href: string): string {
  try {
    return decodeURIComponent(href).replace(/^\.\//, '');
  } catch {
    return href;
  }
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
    ([, attributes = '']) =>
      new Map([...attributes.matchAll(ATTRIBUTE)].map(([, name = '', value, single = '']) => [name, decoded(value ?? single)])),
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
