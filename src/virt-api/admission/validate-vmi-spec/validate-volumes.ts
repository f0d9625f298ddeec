/** Volumes: a name that can be one of a file, exactly one source, and what that source needs. */
import type { VmiSpec, Volume } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import { dnsLabelCauses, subdomainCauses } from './validate-names.ts';

const SOURCES = ['containerDisk', 'registryDisk', 'cloudInitNoCloud', 'persistentVolumeClaim', 'ephemeral', 'emptyDisk'] as const;
/** What one file of ours can hold, qcow2 or not. */
const MOST_DISK_BYTES = 64 * 2 ** 40;

export function validateVolumes({ volumes = [] }: VmiSpec, path: string): StatusCause[] {
  return volumes.flatMap((volume, index) => {
    const at = `${path}.volumes[${index}]`;
    return [...dnsLabelCauses(`${at}.name`, volume.name), ...sourceCauses(volume, at), ...REQUIRED.flatMap((rule) => rule(volume, at))];
  });
}

function sourceCauses(volume: Volume, at: string): StatusCause[] {
  const given = SOURCES.filter((source) => volume[source] !== undefined);
  if (given.length === 0) return [requiredCause(at, 'a volume has one source, such as containerDisk')];
  return given.length === 1 ? [] : [invalidCause(at, given.join(', '), 'a volume has only one source')];
}

/** The name of another object. */
const named = (name: string | undefined, field: string, why: string): StatusCause[] =>
  name ? subdomainCauses(field, name) : [requiredCause(field, why)];

/** What each source cannot do without. */
const REQUIRED: readonly ((volume: Volume, at: string) => StatusCause[])[] = [
  ({ persistentVolumeClaim: claim }, at) => (claim ? named(claim.claimName, `${at}.persistentVolumeClaim.claimName`, 'the claim') : []),
  ({ ephemeral }, at) =>
    ephemeral ? named(ephemeral.persistentVolumeClaim?.claimName, `${at}.ephemeral.persistentVolumeClaim.claimName`, 'the claim') : [],
  ({ emptyDisk }, at) => {
    if (!emptyDisk) return [];
    const bytes = parseQuantity(emptyDisk.capacity ?? '');
    return bytes !== undefined && bytes >= 1 && bytes <= MOST_DISK_BYTES
      ? []
      : [invalidCause(`${at}.emptyDisk.capacity`, emptyDisk.capacity, 'must be a size above 0 and at most 64Ti')];
  },
  ({ containerDisk, registryDisk }, at) => [
    ...pathCauses(`${at}.containerDisk.path`, containerDisk?.path),
    ...pathCauses(`${at}.registryDisk.path`, registryDisk?.path),
  ],
  ({ cloudInitNoCloud }, at) => subdomainCauses(`${at}.cloudInitNoCloud.secretRef.name`, cloudInitNoCloud?.secretRef?.name),
];

/** A file inside an image: nothing that leads out of it. */
function pathCauses(field: string, path: string | undefined): StatusCause[] {
  if (!path) return [];
  const isFile = /^\/.*[^/]$/.test(path) && !path.includes('\0') && !path.split('/').some((step) => step === '..' || step === '.');
  return isFile ? [] : [invalidCause(field, path.slice(0, 80), 'must be the absolute path of a file in the image, without . and ..')];
}
