/** Whether a guest can be run from a spec: for an instance itself and for every kind that carries a template of one. */
import { type ClusterConfiguration, DEFAULT_CONFIGURATION } from '../../../api/kubevirt/configuration/cluster-configuration.ts';
import { honouredVmiSpec } from '../../../api/kubevirt/refused-fields.ts';
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { validateAccessCredentials } from './validate-access-credentials.ts';
import { validateBoard } from './validate-board.ts';
import { validateBootOrder } from './validate-boot-order.ts';
import { validateCpu } from './validate-cpu.ts';
import { validateDeviceCounts } from './validate-device-counts.ts';
import { validateDevices } from './validate-devices.ts';
import { validateDisks } from './validate-disks.ts';
import { validateFilesystems } from './validate-filesystems.ts';
import { validateFirmware } from './validate-firmware.ts';
import { validateHotplug, validateHotplugPorts } from './validate-hotplug.ts';
import { validateInterfaces } from './validate-interfaces.ts';
import { validateLengths } from './validate-lengths.ts';
import { validateMachine } from './validate-machine.ts';
import { validateMemory } from './validate-memory.ts';
import { validateNames } from './validate-names.ts';
import { validateNetworks } from './validate-networks.ts';
import { validatePciAddresses } from './validate-pci-addresses.ts';
import { validatePlacement } from './validate-placement.ts';
import { validatePodFields } from './validate-pod-fields.ts';
import { validateProbes } from './validate-probes.ts';
import { validateResources } from './validate-resources.ts';
import { validateVolumes } from './validate-volumes.ts';

/** Every reason to refuse a part of the spec; `path` is where the spec stands in the object, `configuration` that of the installation. */
type Check = (spec: VmiSpec, path: string, configuration: ClusterConfiguration) => readonly StatusCause[];

const CHECKS: readonly Check[] = [
  validateNames,
  validateMemory,
  validateCpu,
  validateResources,
  validateMachine,
  validateBoard,
  validateFirmware,
  validateDisks,
  validateBootOrder,
  validateVolumes,
  validateHotplug,
  validateNetworks,
  validateInterfaces,
  validateDevices,
  validateFilesystems,
  validateDeviceCounts,
  validatePciAddresses,
  validateProbes,
  validateAccessCredentials,
  validatePlacement,
  validatePodFields,
];
/** What is asked of a spec that is right in all of that: it lays the machine out, which throws where there is no place for something. */
const CHECKS_OF_PLACES: readonly Check[] = [validateHotplugPorts];

/** Every reason to refuse the spec that stands at `path` (`spec`, `spec.template.spec`) of an object which its schema has accepted. */
export function validateVmiSpec(
  spec: JsonObject,
  path: string,
  configuration: ClusterConfiguration = DEFAULT_CONFIGURATION,
): StatusCause[] {
  const { domain, ...honoured } = honouredVmiSpec(spec);
  const checked = { ...honoured, domain: { devices: {}, ...(isObject(domain) && domain) } } as VmiSpec; // the schema has checked the types
  const tooLong = validateLengths(checked, path);
  if (tooLong.length > 0) return tooLong;
  const causes = CHECKS.flatMap((check) => check(checked, path, configuration));
  return causes.length > 0 ? causes : CHECKS_OF_PLACES.flatMap((check) => check(checked, path, configuration));
}
