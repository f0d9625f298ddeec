/** Volumes: a name of their own, exactly one source, and what that source needs. */
import { duplicateCause, invalidCause, requiredCause, tooManyCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { CheckedSpec, CheckedVolume } from './checked-spec.ts';
import { labelCauses, subdomainCauses } from './validate-names.ts';

const SOURCES = [
  ...['containerDisk', 'registryDisk', 'cloudInitNoCloud', 'cloudInitConfigDrive', 'persistentVolumeClaim', 'dataVolume', 'ephemeral'],
  ...['emptyDisk', 'hostDisk', 'configMap', 'secret', 'serviceAccount', 'downwardAPI', 'sysprep', 'downwardMetrics', 'memoryDump'],
  'containerPath',
];
/** What one file of ours can hold, qcow2 or not. */
const MOST_DISK_BYTES = 64 * 2 ** 40;
/** An instance has at most one of these. */
const SINGLE = ['serviceAccount', 'downwardMetrics', 'memoryDump'];

export function validateVolumes({ volumes = [] }: CheckedSpec, path: string): StatusCause[] {
  const each = volumes.flatMap((volume, index) => {
    const at = `${path}.volumes[${index}]`;
    const isTwice = volumes.findIndex(({ name }) => name === volume.name) !== index;
    return [
      ...(isTwice ? [duplicateCause(`${at}.name`, volume.name)] : []),
      ...labelCauses(`${at}.name`, volume.name),
      ...sourceCauses(volume, at),
      ...REQUIRED.flatMap((rule) => rule(volume, at)),
    ];
  });
  const single = SINGLE.flatMap((source) => {
    const count = volumes.filter((volume) => volume[source] !== undefined).length;
    return count > 1
      ? [{ ...tooManyCause(`${path}.volumes`, count, 1), message: `Too many: ${count}: at most one volume may be a ${source}` }]
      : [];
  });
  return [...each, ...single];
}

function sourceCauses(volume: CheckedVolume, at: string): StatusCause[] {
  const given = SOURCES.filter((source) => volume[source] !== undefined);
  if (given.length === 0) return [requiredCause(at, 'a volume has one source, such as containerDisk')];
  return given.length === 1 ? [] : [invalidCause(at, given.join(', '), 'a volume has only one source')];
}

const required = (value: unknown, field: string, why: string): StatusCause[] => (value ? [] : [requiredCause(field, why)]);
/** The name of another object. */
const named = (name: string | undefined, field: string, why: string): StatusCause[] =>
  name ? subdomainCauses(field, name) : [requiredCause(field, why)];

/** What each source cannot do without. */
const REQUIRED: readonly ((volume: CheckedVolume, at: string) => StatusCause[])[] = [
  ({ persistentVolumeClaim: claim }, at) => (claim ? named(claim.claimName, `${at}.persistentVolumeClaim.claimName`, 'the claim') : []),
  ({ ephemeral }, at) =>
    ephemeral ? named(ephemeral.persistentVolumeClaim?.claimName, `${at}.ephemeral.persistentVolumeClaim.claimName`, 'the claim') : [],
  ({ dataVolume }, at) => (dataVolume ? named(dataVolume.name, `${at}.dataVolume.name`, 'the DataVolume') : []),
  ({ configMap }, at) => (configMap ? named(configMap.name, `${at}.configMap.name`, 'the ConfigMap') : []),
  ({ secret }, at) => (secret ? named(secret.secretName, `${at}.secret.secretName`, 'the Secret') : []),
  ({ memoryDump }, at) => (memoryDump ? named(memoryDump.claimName, `${at}.memoryDump.claimName`, 'the claim') : []),
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
  ({ cloudInitNoCloud, cloudInitConfigDrive }, at) => [
    ...subdomainCauses(`${at}.cloudInitNoCloud.secretRef.name`, cloudInitNoCloud?.secretRef?.name),
    ...subdomainCauses(`${at}.cloudInitConfigDrive.secretRef.name`, cloudInitConfigDrive?.secretRef?.name),
  ],
  ({ hostDisk }, at) => (hostDisk ? hostDiskCauses(hostDisk, `${at}.hostDisk`) : []),
];

/** A file inside an image: nothing that leads out of it. */
function pathCauses(field: string, path: string | undefined): StatusCause[] {
  if (!path) return [];
  const isFile = /^\/.*[^/]$/.test(path) && !path.includes('\0') && !path.split('/').some((step) => step === '..' || step === '.');
  return isFile ? [] : [invalidCause(field, path.slice(0, 80), 'must be the absolute path of a file in the image, without . and ..')];
}

function hostDiskCauses({ path, type, capacity }: NonNullable<CheckedVolume['hostDisk']>, at: string): StatusCause[] {
  const causes = required(path, `${at}.path`, 'the file on the node');
  if (type !== 'Disk' && type !== 'DiskOrCreate') causes.push(invalidCause(`${at}.type`, type, 'must be Disk or DiskOrCreate'));
  if (capacity !== undefined && type !== 'DiskOrCreate')
    causes.push(invalidCause(`${at}.capacity`, capacity, 'only a disk that may be created has a capacity: type DiskOrCreate'));
  return causes;
}
