/** The objects of deploy/, which come with the program: in a release as one file that is read quickly. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { KubeObject } from '../../api/meta.ts';
import { UserError } from '../../base/errors.ts';

/** What people apply themselves; everything else is put in place by a program. */
export const APPLIED_BY_HAND = /^kubevirt-[a-z]+\.yaml$/;

/** In the folder of a release. */
export const ALL_OBJECTS = 'objects.json';

/** Definitions first: what follows may use their kinds. */
export function readManifests(folder: string): KubeObject[] {
  const path = join(folder, ALL_OBJECTS);
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : parseManifests(folder);
}

function parseManifests(folder: string): KubeObject[] {
  // Loaded only here: the parser takes more memory than all that it reads.
  const { parseAllDocuments } = createRequire(import.meta.url)('yaml') as typeof import('yaml');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.yaml') && !APPLIED_BY_HAND.test(name),
  );
  const ordered = files.sort((a, b) => Number(b.startsWith('crds/')) - Number(a.startsWith('crds/')) || a.localeCompare(b));
  const objects = ordered.flatMap((file) => parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => document.toJS()));
  if (objects.length === 0) throw new UserError('NO_MANIFESTS', `there are no manifests in ${folder}`);
  return objects.filter((object): object is KubeObject => object !== null);
}
