/**
 * `registries.json` in the data folder, written by whoever runs the cluster, read at every pull:
 *
 *   {
 *     "cacheGiB": 50,
 *     "registries": {
 *       "docker.io": { "mirrors": ["https://mirror.example.com", "https://other.example.com/cache"] },
 *       "*":         { "mirrors": ["http://127.0.0.1:5000"] }
 *     }
 *   }
 *
 * Mirrors are asked in their order, then the registry itself.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { isLoopbackHost } from './guarded-fetch.ts';

export type RegistriesFile = {
  readonly cacheBytes: number;
  /** By the host that names of images begin with; `*` is every other one. */
  readonly mirrors: ReadonlyMap<string, readonly string[]>;
};

const REGISTRIES_FILE = 'registries.json';
const GIB = 2 ** 30;
const DEFAULT_CACHE_GIB = 50;
const MAX_MIRRORS = 8;

/** What it says; nothing but the defaults when it is not there. */
export function readRegistries(home: string): RegistriesFile {
  const path = join(home, REGISTRIES_FILE);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { cacheBytes: DEFAULT_CACHE_GIB * GIB, mirrors: new Map() };
    throw error;
  }
  return parseRegistries(text, path);
}

/** Throws a UserError that names the entry. */
export function parseRegistries(text: string, path: string): RegistriesFile {
  const invalid = (why: string) => new UserError('REGISTRIES_INVALID', `cannot use ${path}`, { why, fix: 'fix it, or remove it' });
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw invalid('it is not JSON');
  }
  if (!isObject(json)) throw invalid('it is not a JSON object');
  const unknown = Object.keys(json).find((key) => !['cacheGiB', 'registries'].includes(key));
  if (unknown !== undefined) throw invalid(`it has ${JSON.stringify(unknown)}; known are cacheGiB and registries`);
  const { cacheGiB = DEFAULT_CACHE_GIB, registries = {} } = json;
  if (typeof cacheGiB !== 'number' || !(cacheGiB > 0)) throw invalid('cacheGiB is not a number above 0');
  if (!isObject(registries)) throw invalid('registries is not an object');
  const mirrors = new Map<string, readonly string[]>();
  for (const [host, entry] of Object.entries(registries)) {
    const list = isObject(entry) ? entry['mirrors'] : undefined;
    if (!Array.isArray(list) || list.length > MAX_MIRRORS)
      throw invalid(`registries[${JSON.stringify(host)}] has no list of up to ${MAX_MIRRORS} mirrors`);
    for (const mirror of list) {
      const why = whyNoMirror(mirror);
      if (why) throw invalid(`the mirror ${JSON.stringify(mirror)} of ${JSON.stringify(host)} ${why}`);
    }
    mirrors.set(host, list as string[]);
  }
  return { cacheBytes: cacheGiB * GIB, mirrors };
}

function whyNoMirror(mirror: unknown): string | undefined {
  if (typeof mirror !== 'string' || !URL.canParse(mirror)) return 'is no address such as https://mirror.example.com';
  const { protocol, hostname, search, hash, username } = new URL(mirror);
  if (search || hash || username) return 'has more than a host and a path';
  if (protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname))) return undefined;
  return 'is not https, which only a mirror at the loopback may do without';
}
