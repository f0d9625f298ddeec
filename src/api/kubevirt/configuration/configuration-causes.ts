/**
 * What is wrong with a configuration although its schema takes it: values that contradict each other, or that mean nothing. Admission
 * refuses them; where they got in before there was an admission, the object says Degraded and the last good configuration stays in force. Pure.
 */
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { ALL_MACHINES, clusterConfigurationOf, isAmongMachines, type KubeVirtConfiguration, ratioOf } from './cluster-configuration.ts';
import { hostDiskFolderCauses } from './host-disk-folders.ts';
import { migrationCauses } from './migration-settings.ts';
import { isOfOurCertificates, TLS_CIPHERS } from './tls-ciphers.ts';

const AT = 'spec.configuration';

export function configurationCauses(configuration: KubeVirtConfiguration = {}): StatusCause[] {
  return [
    ...machineCauses(configuration),
    ...gateCauses(configuration),
    ...hostDiskFolderCauses(configuration.developerConfiguration?.hostDiskFolders ?? [], `${AT}.developerConfiguration.hostDiskFolders`),
    ...seccompCauses(configuration),
    ...ratioCauses(configuration),
    ...smbiosCauses(configuration),
    ...tlsCauses(configuration),
    ...migrationCauses(configuration.migrations ?? {}, `${AT}.migrations`),
  ];
}

function machineCauses(configuration: KubeVirtConfiguration): StatusCause[] {
  const { machineType, emulatedMachines } = clusterConfigurationOf(configuration);
  const { amd64 } = configuration.architectureConfiguration ?? {};
  const field = amd64?.machineType ? `${AT}.architectureConfiguration.amd64.machineType` : `${AT}.machineType`;
  if (!isAmongMachines(machineType, ALL_MACHINES))
    return [invalidCause(field, machineType, `machine type is not supported, allowed are ${ALL_MACHINES.join(', ')}`)];
  if (isAmongMachines(machineType, emulatedMachines)) return [];
  return [invalidCause(field, machineType, `machine type is not among emulatedMachines: ${emulatedMachines.join(', ')}`)];
}

function gateCauses({
  developerConfiguration: { featureGates = [], disabledFeatureGates = [] } = {},
}: KubeVirtConfiguration): StatusCause[] {
  const on = new Set(featureGates);
  return disabledFeatureGates
    .filter((gate) => on.has(gate))
    .map((gate) => invalidCause(`${AT}.developerConfiguration.disabledFeatureGates`, gate, 'is in featureGates, too: on and off at once'));
}

function seccompCauses({ seccompConfiguration }: KubeVirtConfiguration): StatusCause[] {
  const { localhostProfile, runtimeDefaultProfile } = seccompConfiguration?.virtualMachineInstanceProfile?.customProfile ?? {};
  const field = `${AT}.seccompConfiguration.virtualMachineInstanceProfile.customProfile`;
  if (localhostProfile && runtimeDefaultProfile)
    return [invalidCause(field, localhostProfile, 'localhostProfile and runtimeDefaultProfile exclude each other')];
  if (localhostProfile && (localhostProfile.startsWith('/') || localhostProfile.split('/').includes('..')))
    return [invalidCause(`${field}.localhostProfile`, localhostProfile, "must be a path inside the kubelet's seccomp folder")];
  return [];
}

/** Guests read it byte by byte. */
function smbiosCauses({ smbios = {} }: KubeVirtConfiguration): StatusCause[] {
  return Object.entries(smbios)
    .filter(([, value]) => !/^[ -~]*$/.test(value))
    .map(([name, value]) => invalidCause(`${AT}.smbios.${name}`, value, 'must be printable ASCII'));
}

function tlsCauses({ tlsConfiguration: { minTLSVersion, ciphers = [] } = {} }: KubeVirtConfiguration): StatusCause[] {
  const field = `${AT}.tlsConfiguration.ciphers`;
  if (ciphers.length === 0) return [];
  if (minTLSVersion === undefined || minTLSVersion === 'VersionTLS13')
    return [invalidCause(field, ciphers, 'can be chosen only with a minTLSVersion below VersionTLS13')];
  const unknown = ciphers.filter((cipher) => !(cipher in TLS_CIPHERS));
  if (unknown.length > 0)
    return unknown.map((cipher) => invalidCause(field, cipher, `is not known, allowed are ${Object.keys(TLS_CIPHERS).join(', ')}`));
  if (ciphers.some(isOfOurCertificates)) return [];
  return [invalidCause(field, ciphers, 'has none with ECDSA, and our certificates are of that: nobody could connect by TLS 1.2')];
}

function ratioCauses({ additionalGuestMemoryOverheadRatio: ratio }: KubeVirtConfiguration): StatusCause[] {
  if (!ratio || ratioOf(ratio) !== undefined) return [];
  return [invalidCause(`${AT}.additionalGuestMemoryOverheadRatio`, ratio, 'must be a number of at least 1, as in "1.5"')];
}
