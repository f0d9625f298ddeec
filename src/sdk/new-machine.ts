/** A machine from the few words that most programs have to say about one. Pure. */
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { base64Of } from '../base/base64.ts';
import { buildVm } from './manifest/vm.ts';

export type NewMachine = {
  readonly name: string;
  readonly namespace?: string;
  /** Of a container disk, as in `localhost/guests/tiny`. */
  readonly image: string;
  readonly cpus?: number;
  /** 256Mi unless given. */
  readonly memory?: string;
  /** For cloud-init. */
  readonly userData?: string;
  /** It starts at once unless this is false. */
  readonly isStarted?: boolean;
};

const MEMORY = '256Mi';
const GRACE_PERIOD_SECONDS = 30;

/** A manifest stays as it is, but for the namespace that it leaves open. */
export function newMachine(machine: NewMachine | VirtualMachine, namespace: string): VirtualMachine {
  if ('spec' in machine) return { ...machine, metadata: { ...machine.metadata, namespace: machine.metadata.namespace ?? namespace } };
  const { name, image, cpus, memory = MEMORY, userData, isStarted = true } = machine;
  return buildVm({
    name,
    namespace: machine.namespace ?? namespace,
    runStrategy: isStarted ? 'Always' : 'Halted',
    memory,
    ...(cpus !== undefined && { cpus }),
    gracePeriodSeconds: GRACE_PERIOD_SECONDS,
    images: [{ source: image, name: 'root' }],
    claims: [],
    ...(userData !== undefined && { userDataBase64: base64Of(new TextEncoder().encode(userData)) }),
  });
}
