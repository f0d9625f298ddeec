/**
 * Reads a catalogue: `catalogue.json` in the data folder, or one that a team publishes. Every mistake is named by its field. Pure.
 *
 *   {
 *     "catalogues": ["https://images.example.com/catalogue.json"],
 *     "cacheGiB": 20,
 *     "images": {
 *       "web": { "alias": "web:2" },
 *       "web:2": {
 *         "description": "Our web server",
 *         "sources": { "amd64": { "url": "https://images.example.com/web-2.qcow2", "digest": "sha256:..." } },
 *         "user": "admin", "memory": "1Gi", "disk": "10Gi"
 *       }
 *     }
 *   }
 */
import { UserError } from '../../base/errors.ts';
import { isImageReference } from '../../base/image-reference.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { parseQuantity } from '../../base/quantity.ts';
import { isLoopbackHost } from '../guarded-fetch.ts';
import { ARCHITECTURES, type CatalogueAlias, type CatalogueEntry, type CatalogueFile, type CatalogueSource } from './entry.ts';

export const MAX_CATALOGUE_BYTES = 2 ** 20;
const GIB = 2 ** 30;
const DEFAULT_CACHE_GIB = 20;
const MAX_NAMES = 1000;
const MAX_CATALOGUES = 16;
const MAX_WORDS = 300;
const MAX_PROBLEMS = 10;
const NAME = /^[a-z0-9][a-z0-9._-]{0,62}(?::[a-z0-9][a-z0-9._-]{0,62})?$/;
const USER = /^[a-z_][a-z0-9_-]{0,31}$/;
const DIGEST = /^(?:sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;
const ENTRY_FIELDS = ['description', 'sources', 'user', 'memory', 'disk', 'cloudInit', 'agent', 'login'];

/** Told of every field that is wrong. */
type Complain = (field: string, why: string) => void;

/** A UserError with everything that is wrong with it; `where` is the file or address it is from. */
export function parseCatalogue(text: string, where: string, whose: 'user' | 'team'): CatalogueFile {
  const invalid = (why: string) =>
    new UserError('CATALOGUE_INVALID', `cannot use the catalogue ${where}`, { why, fix: 'fix it, or remove it' });
  if (text.length > MAX_CATALOGUE_BYTES) throw invalid(`it has more than ${MAX_CATALOGUE_BYTES} bytes`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalid('it is not JSON');
  }
  const problems: string[] = [];
  const file = catalogueIn(json, whose, (field, why) => problems.push(`${field} ${why}`));
  if (problems.length === 0) return file;
  const more = problems.length - MAX_PROBLEMS;
  throw invalid([...problems.slice(0, MAX_PROBLEMS), ...(more > 0 ? [`and ${more} more`] : [])].join('; '));
}

/** The same of what is JSON already. */
export function catalogueIn(json: unknown, whose: 'user' | 'team', complain: Complain): CatalogueFile {
  const none: CatalogueFile = { images: new Map(), catalogues: [], cacheBytes: DEFAULT_CACHE_GIB * GIB };
  if (!isObject(json)) {
    complain('it', 'is not a JSON object');
    return none;
  }
  onlyKnown(json, whose === 'user' ? ['catalogues', 'cacheGiB', 'images'] : ['images'], '', complain);
  const { images = {}, catalogues = [], cacheGiB = DEFAULT_CACHE_GIB } = json;
  if (typeof cacheGiB !== 'number' || !(cacheGiB > 0)) complain('cacheGiB', 'is not a number above 0');
  return {
    images: namesIn(images, complain),
    catalogues: whose === 'user' ? addressesIn(catalogues, complain) : [],
    cacheBytes: Number(cacheGiB) * GIB,
  };
}

/** Why this cannot be the address of something to fetch; undefined when it can. */
export function whyNoAddress(address: unknown): string | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return 'is no address such as https://images.example.com/disk.qcow2';
  const { protocol, hostname, username, password } = new URL(address);
  if (username || password) return 'has a user or a password in it';
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return undefined;
  return 'is not https, which only the loopback may do without';
}

function addressesIn(list: unknown, complain: Complain): string[] {
  if (!Array.isArray(list) || list.length > MAX_CATALOGUES) {
    complain('catalogues', `is not a list of up to ${MAX_CATALOGUES} addresses`);
    return [];
  }
  list.forEach((address, index) => check(whyNoAddress(address), `catalogues[${index}]`, complain));
  return list as string[]; // checked above: a complaint is an error
}

function namesIn(images: unknown, complain: Complain): CatalogueFile['images'] {
  const found = new Map<string, CatalogueEntry | CatalogueAlias>();
  if (!isObject(images)) complain('images', 'is not an object of names');
  else if (Object.keys(images).length > MAX_NAMES) complain('images', `has more than ${MAX_NAMES} names`);
  else
    for (const [name, entry] of Object.entries(images)) {
      const at = `images[${JSON.stringify(name.slice(0, 80))}]`;
      if (!NAME.test(name)) complain(at, 'is no name such as web or web:2');
      if (!isObject(entry)) complain(at, 'is not an object');
      else if ('alias' in entry) found.set(name, aliasIn(entry, at, complain));
      else found.set(name, entryIn(entry, at, complain));
    }
  return found;
}

function aliasIn(entry: JsonObject, at: string, complain: Complain): CatalogueAlias {
  onlyKnown(entry, ['alias'], at, complain);
  if (typeof entry['alias'] !== 'string' || !NAME.test(entry['alias'])) complain(`${at}.alias`, 'is no name of an image');
  return { alias: String(entry['alias']) };
}

function entryIn(entry: JsonObject, at: string, complain: Complain): CatalogueEntry {
  onlyKnown(entry, ENTRY_FIELDS, at, complain);
  const text = (field: string, isRight: (value: string) => boolean, wrong: string) => {
    const value = entry[field];
    if (value === undefined) return {};
    if (typeof value !== 'string' || !isRight(value)) complain(`${at}.${field}`, wrong);
    return { [field]: String(value) };
  };
  const flag = (field: string, otherwise: boolean) => {
    const value = entry[field] ?? otherwise;
    if (typeof value !== 'boolean') complain(`${at}.${field}`, 'is neither true nor false');
    return value === true;
  };
  const isAmount = (value: string) => (parseQuantity(value) ?? 0) > 0;
  const isShort = (value: string) => value !== '' && value.length <= MAX_WORDS;
  const wrongWords = `is not a text of up to ${MAX_WORDS} characters`;
  return {
    description: '',
    ...text('description', isShort, wrongWords),
    sources: sourcesIn(entry['sources'], `${at}.sources`, complain),
    ...text('user', (value) => USER.test(value), 'cannot be the name of a user'),
    ...text('memory', isAmount, 'is not an amount such as 512Mi'),
    ...text('disk', isAmount, 'is not an amount such as 10Gi'),
    cloudInit: flag('cloudInit', true),
    agent: flag('agent', false),
    ...text('login', isShort, wrongWords),
  };
}

function sourcesIn(sources: unknown, at: string, complain: Complain): CatalogueEntry['sources'] {
  const found: Partial<Record<(typeof ARCHITECTURES)[number], CatalogueSource>> = {};
  if (!isObject(sources) || Object.keys(sources).length === 0) {
    complain(at, `has none of ${ARCHITECTURES.join(', ')}`);
    return found;
  }
  onlyKnown(sources, ARCHITECTURES, at, complain);
  for (const architecture of ARCHITECTURES) {
    const source = sources[architecture];
    if (source !== undefined) found[architecture] = sourceIn(source, `${at}.${architecture}`, complain);
  }
  return found;
}

function sourceIn(source: unknown, at: string, complain: Complain): CatalogueSource {
  if (!isObject(source) || 'url' in source === 'image' in source) {
    complain(at, 'has not exactly one of url and image');
    return { image: '' };
  }
  if ('image' in source) {
    onlyKnown(source, ['image'], at, complain);
    if (typeof source['image'] !== 'string' || !isImageReference(source['image'])) complain(`${at}.image`, 'is no name of an image');
    return { image: String(source['image']) };
  }
  const { url, digest, checksums } = source;
  onlyKnown(source, ['url', 'digest', 'checksums'], at, complain);
  check(whyNoAddress(url), `${at}.url`, complain);
  if (digest !== undefined && (typeof digest !== 'string' || !DIGEST.test(digest)))
    complain(`${at}.digest`, 'is neither sha256:HEX nor sha512:HEX');
  if (checksums !== undefined) check(whyNoAddress(checksums), `${at}.checksums`, complain);
  return {
    url: String(url),
    ...(digest !== undefined && { digest: String(digest) }),
    ...(checksums !== undefined && { checksums: String(checksums) }),
  };
}

function check(why: string | undefined, field: string, complain: Complain): void {
  if (why !== undefined) complain(field, why);
}

function onlyKnown(json: JsonObject, known: readonly string[], at: string, complain: Complain): void {
  for (const key of Object.keys(json))
    if (!known.includes(key))
      complain(`${at ? `${at}.` : ''}${JSON.stringify(key.slice(0, 80))}`, `is not known; known are ${known.join(', ')}`);
}
