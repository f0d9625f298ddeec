/** hostDisk: a file in a folder of the node that an administrator has named for it. */
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { HostFile, SourceData, VolumeSource } from './volume-source.ts';

const MOST_PATH = 4_096;
const MOST_DISK_BYTES = 64 * 2 ** 40;

export const hostDisk: VolumeSource<SourceData<'hostDisk'>> = {
  validate: ({ path, type, capacity }, at) => [...pathCauses(path, `${at}.path`), ...capacityCauses({ type, capacity }, `${at}.capacity`)],
  hostFile: ({ path }) => hostFileAt(path),
};

/** The file at an absolute path that has no second way to be written; undefined for any other text. */
export function hostFileAt(path: string): HostFile | undefined {
  const [root, ...names] = path.split('/');
  const isPlain = names.every((name) => name !== '' && name !== '.' && name !== '..');
  if (root !== '' || names.length < 2 || !isPlain || path.length > MOST_PATH || hasControls(path)) return undefined;
  return { folder: path.slice(0, path.lastIndexOf('/')), file: names.at(-1) ?? '' };
}

function hasControls(text: string): boolean {
  return [...text].some((letter) => letter < ' ' || letter === '\u007f');
}

function pathCauses(path: string, field: string): StatusCause[] {
  if (hostFileAt(path)) return [];
  return [
    invalidCause(field, path.slice(0, 64), 'must be the absolute path of a file in a folder, without . and .. and control characters'),
  ];
}

function capacityCauses({ type, capacity }: Pick<SourceData<'hostDisk'>, 'type' | 'capacity'>, field: string): StatusCause[] {
  if (capacity === undefined) return type === 'DiskOrCreate' ? [requiredCause(field, 'how large a new disk is')] : [];
  const bytes = parseQuantity(capacity);
  const isSize = bytes !== undefined && bytes >= 1 && bytes <= MOST_DISK_BYTES;
  return isSize ? [] : [invalidCause(field, capacity, 'must be a size above 0 and at most 64Ti')];
}
