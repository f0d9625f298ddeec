/** Writes the manifest of a preference; nothing is created. */
import { stringify } from 'yaml';
import { UserError } from '../../../../base/errors.ts';
import { randomName } from '../../../create/random-name.ts';
import type { Deps } from '../../../deps.ts';

type Flags = {
  readonly name?: string;
  readonly machineType?: string;
  readonly cpuTopology?: string;
  readonly volumeStorageClass?: string;
  readonly namespaced: boolean;
};

const TOPOLOGIES: readonly string[] = ['sockets', 'cores', 'threads', 'spread', 'any'];

export function run({ stdout }: Deps, flags: Flags): void {
  const { name = randomName('preference'), machineType, cpuTopology, volumeStorageClass, namespaced } = flags;
  if (cpuTopology !== undefined && !TOPOLOGIES.includes(cpuTopology))
    throw new UserError('USAGE', `--cpu-topology ${cpuTopology} is not known`, { fix: `say one of ${TOPOLOGIES.join(', ')}`, exitCode: 2 });
  const manifest = {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: namespaced ? 'VirtualMachinePreference' : 'VirtualMachineClusterPreference',
    metadata: { name },
    spec: {
      ...(cpuTopology && { cpu: { preferredCPUTopology: cpuTopology } }),
      ...(machineType && { machine: { preferredMachineType: machineType } }),
      ...(volumeStorageClass && { volumes: { preferredStorageClassName: volumeStorageClass } }),
    },
  };
  stdout.write(stringify(manifest, { lineWidth: 0 }));
}
