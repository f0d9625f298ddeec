/** emptyDisk: a disk without content, which ends with the instance. */
import { invalidCause } from '../../../base/causes.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { SourceData, VolumeSource } from './volume-source.ts';

/** What one file of ours can hold, qcow2 or not. */
const MOST_DISK_BYTES = 64 * 2 ** 40;

export const emptyDisk: VolumeSource<SourceData<'emptyDisk'>> = {
  validate: ({ capacity }, at) => {
    const bytes = parseQuantity(capacity ?? '');
    const isSize = bytes !== undefined && bytes >= 1 && bytes <= MOST_DISK_BYTES;
    return isSize ? [] : [invalidCause(`${at}.capacity`, capacity, 'must be a size above 0 and at most 64Ti')];
  },
};
