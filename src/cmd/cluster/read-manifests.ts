/**
 * The objects of deploy/, which come with the program: in a release as one file that is read quickly. In a clone they are YAML, which takes
 * longer to read than everything else of a start together: what was read is kept until a file changes.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { KubeObject } from '../../api/meta.ts';
import { UserError } from '../../base/errors.ts';

/** What people apply themselves; everything else is put in place by a program. */
export const APPLIED_BY_HAND = /^(kubevirt-[a-z]+|virt-ui)\.yaml$/;

/** In the folder of a release. */
export const ALL_OBJECTS = 'objects.json';

/** Definitions first: what follows may use their kinds. With a folder for it, what was parsed is kept there. */
export function readManifests(folder: string, { keptIn }: { keptIn?: string } = {}): KubeObject[] {
  const path = join(folder, ALL_OBJECTS);
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'));
  const texts = textsOf(folder);
  if (keptIn === undefined) return parseManifests(texts);
  const digest = createHash('sha256').update(JSON.stringify(texts)).digest('hex');
  const keptPath = join(keptIn, 'manifests', `${createHash('sha256').update(folder).digest('hex').slice(0, 16)}.json`);
  const kept = readKept(keptPath);
  if (kept?.digest === digest) return [...kept.objects];
  const objects = parseManifests(texts);
  keep(keptPath, { digest, objects });
  return objects;
}

function textsOf(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.yaml') && !APPLIED_BY_HAND.test(name),
  );
  const ordered = files.sort((a, b) => Number(b.startsWith('crds/')) - Number(a.startsWith('crds/')) || a.localeCompare(b));
  if (ordered.length === 0) throw new UserError('NO_MANIFESTS', `there are no manifests in ${folder}`);
  return ordered.map((file) => readFileSync(join(folder, file), 'utf8'));
}

function parseManifests(texts: readonly string[]): KubeObject[] {
  // Loaded only here: the parser takes more memory than all that it reads.
  const { parseAllDocuments } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  const objects = texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS()));
  return objects.filter((object): object is KubeObject => object !== null);
}

type Kept = { readonly digest: string; readonly objects: readonly KubeObject[] };

function readKept(path: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Kept; // written by us, in a folder of our own
  } catch {
    return undefined; // none yet, or half of one
  }
}

function keep(path: string, kept: Kept): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const half = `${path}.${process.pid}`;
    writeFileSync(half, JSON.stringify(kept), { mode: 0o600 });
    renameSync(half, path);
  } catch {
    // a start without it takes longer, and nothing else
  }
}
