/**
 * What somebody means who names an image. Pure: what is on this machine is passed in.
 *
 *   https://..., http://...                        the disk at that address
 *   oci://NAME, docker://NAME                      the image of that name
 *   /..., ./..., ../..., ~/..., file://...         the file
 *   a name of the catalogue                        what it says for this architecture
 *   a word that is a file in this folder, with the ending of a disk     that file
 *   an image of the store, or a name with a host   the image
 *   anything else                                  an error, with the name that may have been meant
 */
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UserError } from '../../base/errors.ts';
import { isImageReference, normaliseReference } from '../../base/image-reference.ts';
import type { Catalogue, Listed } from '../../images/catalogue/catalogue.ts';
import type { Architecture, CatalogueEntry } from '../../images/catalogue/entry.ts';
import { whyNoAddress } from '../../images/catalogue/parse-catalogue.ts';
import { fileNameOf } from '../../images/import/download-cache.ts';
import type { UrlSource } from '../../images/import/import-url.ts';

export type ResolvedImage = {
  readonly source:
    | { readonly is: 'url'; readonly at: UrlSource }
    | { readonly is: 'file'; readonly path: string }
    | { readonly is: 'image'; readonly reference: string };
  /** What is known of it; undefined when the catalogue does not have it. */
  readonly entry?: CatalogueEntry;
  /** How a disk that is brought in is called in the store, without what tells one from another: `catalogue/debian:12-`. */
  readonly storeName: string;
  /** The word that names of machines are made of. */
  readonly stem: string;
};
export type Surroundings = {
  readonly catalogue: Catalogue;
  readonly architecture: string;
  readonly workingFolder: string;
  readonly homeFolder: string;
  isFile(path: string): boolean;
  isStored(reference: string): boolean;
};

const DISK_ENDING = /\.(?:qcow2|img|raw|vmdk|vhdx|ova)(?:\.(?:gz|xz|zst))?$/i;

/** By the table above. */
export function resolveImage(said: string, around: Surroundings): ResolvedImage {
  if (/^https?:\/\//i.test(said)) return fromAddress(said);
  const [, reference] = /^(?:oci|docker):\/\/(.+)$/.exec(said) ?? [];
  if (reference !== undefined) return ofReference(reference, said, around);
  const path = pathIn(said, around);
  if (path !== undefined) return fromFile(path, said, around);
  const listed = around.catalogue.find(said);
  if (listed) return fromCatalogue(listed, around);
  if (DISK_ENDING.test(said) && around.isFile(join(around.workingFolder, said)))
    return fromFile(join(around.workingFolder, said), said, around);
  const isName = isImageReference(said);
  if (isName && (said.includes('/') || around.isStored(said))) return ofReference(said, said, around);
  throw unknown(said, around);
}

/** A word of lower case letters and digits, for names of machines and images. */
export function stemOf(text: string): string {
  const stem = text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^[-0-9]+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return stem || 'vm';
}

function fromAddress(url: string): ResolvedImage {
  const why = whyNoAddress(url);
  if (why)
    throw new UserError('USAGE', `${url} cannot be the address of a disk`, {
      why: `it ${why}`,
      fix: 'check the address, or download the disk and name the file: virtctl run ./FILE',
      exitCode: 2,
    });
  const stem = stemOf(fileNameOf(url).replace(DISK_ENDING, ''));
  return { source: { is: 'url', at: { url } }, storeName: `imported/${stem}:`, stem };
}

function fromFile(path: string, said: string, { isFile }: Surroundings): ResolvedImage {
  if (!isFile(path)) throw new UserError('FILE_MISSING', `there is no file ${said}`, { fix: 'check its path', exitCode: 3 });
  const stem = stemOf((path.split('/').at(-1) ?? '').replace(DISK_ENDING, ''));
  return { source: { is: 'file', path }, storeName: `imported/${stem}:`, stem };
}

function fromCatalogue({ entry, entryName, publisher }: Listed, { architecture }: Surroundings): ResolvedImage {
  const found = entry.sources[architecture as Architecture];
  if (!found)
    throw new UserError('ARCHITECTURE_MISSING', `${entryName} is not published for ${architecture}`, {
      why: `the catalogue has ${Object.keys(entry.sources).join(', ')}`,
      fix: `virtctl image search shows what there is for ${architecture}`,
      exitCode: 7,
    });
  const [name = '', tag = 'latest'] = entryName.split(':');
  const rest = { entry, storeName: `catalogue/${name}:${tag}-`, stem: stemOf(name) };
  if ('image' in found) return { source: { is: 'image', reference: found.image }, ...rest };
  return { source: { is: 'url', at: { ...found, ...(publisher !== undefined && { publisher }) } }, ...rest };
}

/** An image of the catalogue is known by its full name, too. */
function ofReference(reference: string, said: string, { catalogue, architecture }: Surroundings): ResolvedImage {
  if (!isImageReference(reference))
    throw new UserError('REFERENCE_INVALID', `${said} is no name of an image`, {
      fix: 'write HOST/NAME:TAG, such as quay.io/containerdisks/debian:12',
      exitCode: 2,
    });
  const wanted = normaliseReference(reference);
  const entry = catalogue.search().find((listed) => {
    const found = listed.entry.sources[architecture as Architecture];
    return found && 'image' in found && normaliseReference(found.image) === wanted;
  })?.entry;
  const stem = stemOf(reference.split('@')[0]?.split('/').at(-1)?.split(':')[0] ?? '');
  return { source: { is: 'image', reference }, ...(entry && { entry }), storeName: '', stem };
}

function pathIn(said: string, { workingFolder, homeFolder }: Surroundings): string | undefined {
  if (said.startsWith('file://') && URL.canParse(said)) return fileURLToPath(said);
  if (said.startsWith('~/')) return join(homeFolder, said.slice(2));
  if (isAbsolute(said)) return said;
  return /^\.{1,2}\//.test(said) ? join(workingFolder, said) : undefined;
}

function unknown(said: string, { catalogue }: Surroundings): UserError {
  const [name = ''] = said.split(':');
  const others = catalogue.search().flatMap((listed) => (listed.name.split(':')[0] === name ? [listed.name] : []));
  const near = others.length > 0 ? others.join(', ') : catalogue.near(said);
  return new UserError('IMAGE_UNKNOWN', `there is no image ${JSON.stringify(said)}`, {
    why: `neither the catalogue nor virtctl image list has it${near ? `; there is ${near}` : ''}`,
    fix: isImageReference(said)
      ? `virtctl image search lists names; ${normaliseReference(said)} is the one of a registry`
      : 'virtctl image search lists names; a registry is named as HOST/NAME:TAG, a file as ./FILE',
    exitCode: 3,
  });
}
