/** containerDisk, and registryDisk as it was called before: a disk image that comes in a container image. */
import { invalidCause } from '../../../base/causes.ts';
import { subdomainCauses } from '../../../base/dns-name-causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isImageReference } from '../../../base/image-reference.ts';
import type { SourceData, VolumeSource } from './volume-source.ts';

export const containerDisk: VolumeSource<SourceData<'containerDisk'>> = {
  validate: ({ image, path, imagePullSecret }, at) => [
    ...imageCauses(`${at}.image`, image),
    ...pathCauses(`${at}.path`, path),
    ...subdomainCauses(`${at}.imagePullSecret`, imagePullSecret || undefined),
  ],
  withDefaults: (written) => {
    const { image, imagePullPolicy } = written;
    return typeof image === 'string' ? { ...written, imagePullPolicy: imagePullPolicy || pullPolicyFor(image) } : written;
  },
  image: (data) => data,
};

/** By the grammar that finds the image later: what it cannot read would fail in the kubelet at best. */
export function imageCauses(field: string, image: string): StatusCause[] {
  const why = 'must be the name of a container image, such as registry.example/team/disk:1.0';
  return isImageReference(image) ? [] : [invalidCause(field, image.slice(0, 80), why)];
}

/** A file inside an image: nothing that leads out of it. */
export function pathCauses(field: string, path: string | undefined): StatusCause[] {
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
