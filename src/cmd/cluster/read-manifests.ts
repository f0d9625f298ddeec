/** The objects of deploy/, which come with the program. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../api/meta.ts';
import { UserError } from '../../base/errors.ts';

/** What people apply themselves; everything else is put in place by a program. */
const APPLIED_BY_HAND = /^kubevirt-[a-z]+\.yaml$/;

/** Definitions first: what follows may use their kinds. */
export function readManifests(folder: string): KubeObject[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.yaml') && !APPLIED_BY_HAND.test(name),
  );
  const ordered = files.sort((a, b) => Number(b.startsWith('crds/')) - Number(a.startsWith('crds/')) || a.localeCompare(b));
  const objects = ordered.flatMap((file) => parseAllDocuments(readFileSync(join(folder, file), 'utf8')).map((document) => document.toJS()));
  if (objects.length === 0) throw new UserError('NO_MANIFESTS', `there are no manifests in ${folder}`);
  return objects.filter((object): object is KubeObject => object !== null);
}
