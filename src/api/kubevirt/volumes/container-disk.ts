/** containerDisk, and registryDisk as it was called before: a disk image that comes in a container image. */
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { SourceData, VolumeSource } from './volume-source.ts';

export const containerDisk: VolumeSource<SourceData<'containerDisk'>> = {
  validate: ({ path }, at) => pathCauses(`${at}.path`, path),
  withDefaults: (written) => {
    const { image, imagePullPolicy } = written;
    return typeof image === 'string' ? { ...written, imagePullPolicy: imagePullPolicy || pullPolicyFor(image) } : written;
  },
  image: (data) => data,
};

/** A file inside an image: nothing that leads out of it. */
function pathCauses(field: string, path: string | undefined): StatusCause[] {
  if (!path) return [];
  const isFile = /^\/.*[^/]$/.test(path) && !path.includes('\0') && !path.split('/').some((step) => step === '..' || step === '.');
  return isFile ? [] : [invalidCause(field, path.slice(0, 80), 'must be the absolute path of a file in the image, without . and ..')];
}

/** Always for what may change under its name. */
function pullPolicyFor(image: string): 'Always' | 'IfNotPresent' {
  if (image.includes('@')) return 'IfNotPresent';
  const tag = /:([^:/]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}
