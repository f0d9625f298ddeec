/** Writes the manifest of an instance type; nothing is created. */
import { stringify } from 'yaml';
import { UserError } from '../../../../base/errors.ts';
import { parseAmount } from '../../../create/parse-amount.ts';
import { parseParts } from '../../../create/parse-parts.ts';
import { randomName } from '../../../create/random-name.ts';
import type { Deps } from '../../../deps.ts';

type Flags = {
  readonly name?: string;
  readonly cpu: number;
  readonly memory: string;
  readonly gpu?: readonly string[];
  readonly hostdevice?: readonly string[];
  readonly iothreadspolicy?: string;
  readonly namespaced: boolean;
};

export function run({ stdout }: Deps, flags: Flags): void {
  const { name = randomName('instancetype'), cpu, gpu = [], hostdevice = [], iothreadspolicy, namespaced } = flags;
  if (!Number.isInteger(cpu) || cpu < 1) throw new UserError('USAGE', `--cpu ${cpu} is not a number from 1`, { exitCode: 2 });
  const manifest = {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: namespaced ? 'VirtualMachineInstancetype' : 'VirtualMachineClusterInstancetype',
    metadata: { name },
    spec: {
      cpu: { guest: cpu },
      ...(gpu.length > 0 && { gpus: gpu.map((each) => parseDevice('--gpu', each)) }),
      ...(hostdevice.length > 0 && { hostDevices: hostdevice.map((each) => parseDevice('--hostdevice', each)) }),
      ...(iothreadspolicy && { ioThreadsPolicy: iothreadspolicy }),
      memory: { guest: parseAmount('--memory', flags.memory) },
    },
  };
  stdout.write(stringify(manifest, { lineWidth: 0 }));
}

function parseDevice(flag: string, text: string): { readonly name: string; readonly deviceName: string } {
  const wrong = (_: string, why: string) =>
    new UserError('USAGE', `${flag} ${text} is not understood`, { why, fix: 'say name:NAME,devicename:RESOURCE', exitCode: 2 });
  const parts = parseParts(text, { keys: ['name', 'devicename'], wrong });
  const [name, deviceName] = [parts.get('name'), parts.get('devicename')];
  if (!name || !deviceName) throw wrong(text, 'name:VALUE and devicename:VALUE are needed');
  return { name, deviceName };
}
