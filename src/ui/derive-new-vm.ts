/** A machine from the few choices of the page, its manifest, and the command that makes the same. Pure. */
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { buildVm } from '../sdk/manifest/vm.ts';

export type NewVm = {
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  readonly cpus: number;
  readonly memory: string;
  readonly isStarted: boolean;
};

export const SIZES = {
  S: { cpus: 1, memory: '256Mi' },
  M: { cpus: 2, memory: '2Gi' },
  L: { cpus: 4, memory: '8Gi' },
} as const;

const GRACE_PERIOD_SECONDS = 30;

export function deriveNewVm({ namespace, name, image, cpus, memory, isStarted }: NewVm): VirtualMachine {
  return buildVm({
    name,
    namespace,
    runStrategy: isStarted ? 'Always' : 'Halted',
    memory,
    cpus,
    gracePeriodSeconds: GRACE_PERIOD_SECONDS,
    images: [{ source: image, name: 'root' }],
    claims: [],
  });
}

/** Pipes into kubectl what the page sends. */
export function deriveCommand({ namespace, name, image, cpus, memory, isStarted }: NewVm): string {
  const words = [
    'virtctl create vm',
    `--name ${name}`,
    `--volume-containerdisk src:${image},name:root`,
    `--memory ${memory}`,
    `--cpus ${cpus}`,
    `--run-strategy ${isStarted ? 'Always' : 'Halted'}`,
  ];
  return `${words.join(' ')} | kubectl create -n ${namespace} -f -`;
}

/** Images that machines of this cluster use already, most used first, behind those that everybody has. */
export function deriveImages(used: readonly (string | undefined)[], known: readonly string[]): string[] {
  const counts = new Map<string, number>(known.map((image) => [image, 0]));
  for (const image of used) if (image) counts.set(image, (counts.get(image) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([image]) => image);
}
