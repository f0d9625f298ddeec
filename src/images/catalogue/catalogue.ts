/**
 * The names of images that mean something here: those of the user's file, then those of the catalogues that it names, in their order, then those
 * that come with the program. The first one that has a name decides what it is.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearestWord } from '../../base/nearest-word.ts';
import { BUILT_IN } from './built-in-table.ts';
import type { CatalogueAlias, CatalogueEntry, CatalogueFile } from './entry.ts';
import { catalogueIn, parseCatalogue } from './parse-catalogue.ts';

/** Whose the names are that come with the program. */
export const FROM_US = 'built in';

export type Listed = {
  readonly name: string;
  /** The name of the entry that it stands for: its own, unless it is one more name for another. */
  readonly entryName: string;
  readonly entry: CatalogueEntry;
  /** For people: `built in`, a file or an address. */
  readonly from: string;
  /** Who named the addresses in it: a catalogue from elsewhere leads to no address of this machine. Undefined for the user and for us. */
  readonly publisher?: string;
};
export type Catalogue = {
  /** What the name means; undefined when nobody has it. */
  find(name: string): Listed | undefined;
  /** By name; those in whose name or description the word is. */
  search(word?: string): readonly Listed[];
  /** The name that somebody may have meant. */
  near(name: string): string | undefined;
  /** How much of what was downloaded is kept. */
  readonly cacheBytes: number;
};
type Part = Pick<Listed, 'from' | 'publisher'> & { readonly images: CatalogueFile['images'] };

/** Longer chains are circles. */
const MAX_ALIASES = 4;

export function cataloguePath(home: string): string {
  return join(home, 'catalogue.json');
}

/** The last copy of a catalogue from elsewhere. */
export function copyPath(home: string, address: string): string {
  return join(home, 'catalogues', `${createHash('sha256').update(address).digest('hex').slice(0, 16)}.json`);
}

/** What the user wrote; nothing but defaults where there is no file. */
export function readUserCatalogue(home: string): CatalogueFile {
  return parseCatalogue(textOf(cataloguePath(home)) ?? '{}', cataloguePath(home), 'user');
}

/** As it is on this machine now: nothing is fetched. A catalogue of which there is no copy yet has no names. */
export function readCatalogue(home: string): Catalogue {
  const { images, catalogues, cacheBytes } = readUserCatalogue(home);
  const others = catalogues.map((address): Part => {
    const text = textOf(copyPath(home, address)) ?? '{}';
    return { from: address, publisher: address, images: parseCatalogue(text, address, 'team').images };
  });
  return { ...catalogueOf([{ from: cataloguePath(home), images }, ...others, builtIn()]), cacheBytes };
}

/** Several as one; the first that has a name decides. */
export function catalogueOf(parts: readonly Part[]): Omit<Catalogue, 'cacheBytes'> {
  const known = new Map<string, { part: Part; entry: CatalogueEntry | CatalogueAlias }>();
  for (const part of parts) for (const [name, entry] of part.images) if (!known.has(name)) known.set(name, { part, entry });
  const find = (name: string): Listed | undefined => {
    let entryName = name;
    for (let steps = 0; steps <= MAX_ALIASES; steps++) {
      const found = known.get(entryName) ?? known.get(entryName.replace(/:latest$/, ''));
      if (!found) return undefined;
      const { entry, part } = found;
      if ('alias' in entry) entryName = entry.alias;
      else return { name, entryName, entry, from: part.from, ...(part.publisher !== undefined && { publisher: part.publisher }) };
    }
    return undefined;
  };
  const all = [...known.keys()].sort().flatMap((name) => find(name) ?? []);
  return {
    find,
    search: (word = '') => all.filter(({ name, entry }) => `${name}\n${entry.description}`.toLowerCase().includes(word.toLowerCase())),
    near: (name) => nearestWord(name, [...known.keys()]),
  };
}

function builtIn(): Part {
  const wrong = (field: string, why: string) => {
    throw new Error(`the built-in catalogue is wrong: ${field} ${why}`);
  };
  return { from: FROM_US, images: catalogueIn(BUILT_IN, 'team', wrong).images };
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
