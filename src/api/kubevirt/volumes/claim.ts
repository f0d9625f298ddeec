/** persistentVolumeClaim: the disk on a claim; dataVolume: the same, by the name that a DataVolume and its claim share; ephemeral: the same, beneath a disk that ends with the instance; memoryDump: a claim that the guest does not see. */
import { requiredCause } from '../../../base/causes.ts';
import { subdomainCauses } from '../../../base/dns-name-causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { SourceData, VolumeSource } from './volume-source.ts';

export const persistentVolumeClaim: VolumeSource<SourceData<'persistentVolumeClaim'>> = {
  validate: ({ claimName }, at) => nameCauses(`${at}.claimName`, claimName),
  claim: ({ claimName, readOnly }) => ({ claimName, isReadOnly: readOnly === true }),
  canHotplug: true,
};

export const dataVolume: VolumeSource<SourceData<'dataVolume'>> = {
  validate: ({ name }, at) => nameCauses(`${at}.name`, name),
  claim: ({ name }) => ({ claimName: name, isReadOnly: false }),
  canHotplug: true,
};

export const ephemeral: VolumeSource<SourceData<'ephemeral'>> = {
  validate: (data, at) => nameCauses(`${at}.persistentVolumeClaim.claimName`, data.persistentVolumeClaim?.claimName),
  claim: ({ persistentVolumeClaim: claim }) => claim && { claimName: claim.claimName, isReadOnly: true },
};

/** Its PVC is in a Pod of its own, while the memory is dumped: the launcher has nothing of it. */
export const memoryDump: VolumeSource<SourceData<'memoryDump'>> = {
  validate: ({ claimName }, at) => nameCauses(`${at}.claimName`, claimName),
};

function nameCauses(field: string, name: string | undefined): StatusCause[] {
  return name ? subdomainCauses(field, name) : [requiredCause(field, 'the PVC')];
}
