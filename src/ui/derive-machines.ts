/** Machines as the page shows them. Pure. */
import type { Node } from '../api/core/node.ts';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { guestMemoryBytesOf, vcpusOf } from '../api/kubevirt/vmi-size.ts';
import { imageOf } from '../api/kubevirt/volumes/source-of.ts';
import { keyOf } from '../api/meta.ts';
import { formatBytes } from '../base/quantity.ts';
import { decideWhy } from '../sdk/why/decide.ts';
import type { Answer } from '../sdk/why/observed.ts';

/** How a state is shown: a sign and a colour, always beside its word. */
export type Tone = 'good' | 'busy' | 'bad' | 'off';

export type Machine = {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly vm?: VirtualMachine;
  readonly vmi?: VirtualMachineInstance;
  readonly status: string;
  readonly tone: Tone;
  readonly address?: string;
  readonly node?: string;
  readonly cpus?: number;
  readonly memory?: string;
  readonly image?: string;
  /** Since when it runs, or is there. */
  readonly since?: string;
};

const TONES: Readonly<Record<string, Tone>> = {
  Running: 'good',
  Stopped: 'off',
  Succeeded: 'off',
  Paused: 'off',
  Suspended: 'off',
  Starting: 'busy',
  Stopping: 'busy',
  Terminating: 'busy',
  Provisioning: 'busy',
  WaitingForVolumeBinding: 'busy',
  Migrating: 'busy',
  Suspending: 'busy',
  Resuming: 'busy',
  WaitingForReceiver: 'busy',
  Pending: 'busy',
  Scheduling: 'busy',
  Scheduled: 'busy',
};

/** Every machine with its instance, and instances of their own, by namespace and name. */
export function deriveMachines(vms: readonly VirtualMachine[], vmis: readonly VirtualMachineInstance[]): Machine[] {
  const instances = new Map(vmis.map((vmi) => [keyOf(vmi.metadata), vmi]));
  const machines = vms.map((vm) => {
    const vmi = instances.get(keyOf(vm.metadata));
    instances.delete(keyOf(vm.metadata));
    return machineFrom(vm, vmi);
  });
  for (const vmi of instances.values()) machines.push(machineFrom(undefined, vmi));
  return machines.sort((a, b) => (a.key < b.key ? -1 : 1));
}

function machineFrom(vm: VirtualMachine | undefined, vmi: VirtualMachineInstance | undefined): Machine {
  const metadata = (vm ?? vmi)?.metadata ?? { name: '' };
  const spec = vmi?.spec ?? vm?.spec.template.spec;
  const status = vm?.status?.printableStatus ?? vmi?.status?.phase ?? 'Stopped';
  const bytes = spec && guestMemoryBytesOf(spec);
  const startedAt = vmi?.status?.phaseTransitionTimestamps?.find(({ phase }) => phase === 'Running')?.phaseTransitionTimestamp;
  return {
    key: keyOf(metadata),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    status,
    tone: TONES[status] ?? 'bad',
    ...(vm && { vm }),
    ...(vmi && { vmi }),
    ...optional(
      'address',
      vmi?.status?.interfaces?.map(({ ipAddress }) => ipAddress).find((address) => address),
    ),
    ...optional('node', vmi?.status?.nodeName),
    ...optional('cpus', spec && vcpusOf(spec)),
    ...optional('memory', bytes === undefined ? undefined : formatBytes(bytes)),
    ...optional(
      'image',
      spec?.volumes?.map((volume) => imageOf(volume)?.image).find((image) => image),
    ),
    ...optional('since', startedAt ?? metadata.creationTimestamp),
  };
}

function optional<K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, V>);
}

/** What to say in a list about a machine that does not do what it should; from what the page has at hand. */
export function deriveTrouble(
  machine: Machine,
  { now, nodes }: { readonly now: number; readonly nodes?: readonly Node[] },
): Answer | undefined {
  if (machine.tone === 'good' || machine.tone === 'off') return undefined;
  const { name, vm, vmi } = machine;
  const answer = decideWhy({ now, name, claims: new Map(), events: [], ...(vm && { vm }), ...(vmi && { vmi }), ...(nodes && { nodes }) });
  return answer.isBlocked ? answer : undefined;
}

export type Filter = { readonly text: string; readonly status: string };

/** Every word must be somewhere in what is known of it. */
export function deriveFiltered(machines: readonly Machine[], { text, status }: Filter): readonly Machine[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0 && status === '') return machines;
  return machines.filter(({ namespace, name, node, address, image, status: own, vm }) => {
    if (status !== '' && own !== status) return false;
    const labels = Object.entries(vm?.metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`);
    const known = [namespace, name, own, node, address, image, ...labels].join(' ').toLowerCase();
    return words.every((word) => known.includes(word));
  });
}
