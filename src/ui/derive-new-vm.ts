/** A machine from the few choices of the page, and the choices from any machine: form, manifest and command are views of one object. Pure. */
import { runStrategyOf, type VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { guestMemoryBytesOf, vcpusOf } from '../api/kubevirt/vmi-size.ts';
import type { Volume } from '../api/kubevirt/vmi-spec-schema.ts';
import { imageOf } from '../api/kubevirt/volumes/source-of.ts';
import { deepEqual, mergePatch } from '../base/json.ts';
import { formatBytes } from '../base/quantity.ts';
import { buildVm } from '../sdk/manifest/vm.ts';
import { userDataOf } from './derive-setting-values.ts';

export type NewVm = {
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  readonly cpus: number;
  readonly memory: string;
  /** Cloud-init user data; empty for none. */
  readonly userData: string;
  readonly isStarted: boolean;
};

/** A change of the manifest: where, and what is to stand there; undefined removes it. */
export type Edit = { readonly at: readonly (string | number)[]; readonly value: unknown };

export const SIZES = {
  S: { cpus: 1, memory: '256Mi' },
  M: { cpus: 2, memory: '2Gi' },
  L: { cpus: 4, memory: '8Gi' },
} as const;

/** Where messages of the server about a choice stand. */
export const CHOICE_PATHS: Readonly<Record<Exclude<keyof NewVm, 'isStarted'>, string>> = {
  namespace: 'metadata.namespace',
  name: 'metadata.name',
  image: 'spec.template.spec.volumes',
  cpus: 'spec.template.spec.domain.cpu',
  memory: 'spec.template.spec.domain.memory',
  userData: 'spec.template.spec.volumes',
};

const GRACE_PERIOD_SECONDS = 30;
const TEMPLATE = ['spec', 'template', 'spec'] as const;
const CLOUD_INIT = 'cloudinitdisk';

export function deriveNewVm({ namespace, name, image, cpus, memory, isStarted }: Omit<NewVm, 'userData'>): VirtualMachine {
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

/** What the form shows of a manifest that somebody may have written; what is not there is empty. */
export function deriveChoices(vm: Partial<VirtualMachine>): NewVm {
  const spec = vm.spec?.template?.spec;
  const bytes = spec?.domain ? guestMemoryBytesOf(spec) : undefined;
  return {
    namespace: vm.metadata?.namespace ?? '',
    name: vm.metadata?.name ?? '',
    image: spec?.volumes?.map((volume) => imageOf(volume)?.image).find((image) => image) ?? '',
    cpus: spec?.domain ? vcpusOf(spec) : 1,
    memory: String(spec?.domain?.memory?.guest ?? (bytes === undefined ? '' : formatBytes(bytes))),
    userData: (spec && userDataOf(spec)) ?? '',
    isStarted: vm.spec !== undefined && !['Halted', 'Manual'].includes(runStrategyOf(vm as VirtualMachine)),
  };
}

/** What a change in the form changes of the manifest: all else stays as it was written. */
export function deriveEdits(vm: Partial<VirtualMachine>, changed: Partial<NewVm>): Edit[] {
  const spec = vm.spec?.template?.spec;
  const volumes = spec?.volumes ?? [];
  const edits: Edit[] = [];
  if (changed.namespace !== undefined) edits.push({ at: ['metadata', 'namespace'], value: changed.namespace });
  if (changed.name !== undefined) {
    const label = [...TEMPLATE.slice(0, 2), 'metadata', 'labels', 'kubevirt.io/vm'];
    if (vm.spec?.template?.metadata?.labels?.['kubevirt.io/vm'] === vm.metadata?.name) edits.push({ at: label, value: changed.name });
    edits.push({ at: ['metadata', 'name'], value: changed.name });
  }
  if (changed.image !== undefined) {
    const index = volumes.findIndex((volume) => volume.containerDisk !== undefined);
    if (index >= 0) edits.push({ at: [...TEMPLATE, 'volumes', index, 'containerDisk', 'image'], value: changed.image });
    else edits.push(...addedDisk(vm, { name: 'root', containerDisk: { image: changed.image } }));
  }
  if (changed.cpus !== undefined) edits.push({ at: [...TEMPLATE, 'domain', 'cpu', 'cores'], value: changed.cpus });
  if (changed.memory !== undefined) edits.push({ at: [...TEMPLATE, 'domain', 'memory', 'guest'], value: changed.memory });
  if (changed.isStarted !== undefined) edits.push({ at: ['spec', 'runStrategy'], value: changed.isStarted ? 'Always' : 'Halted' });
  if (changed.userData !== undefined) edits.push(...userDataEdits(vm, changed.userData));
  return edits;
}

function userDataEdits(vm: Partial<VirtualMachine>, userData: string): Edit[] {
  const spec = vm.spec?.template?.spec;
  const index = spec?.volumes?.findIndex(({ cloudInitNoCloud, cloudInitConfigDrive }) => cloudInitNoCloud ?? cloudInitConfigDrive) ?? -1;
  const volume = spec?.volumes?.[index];
  if (!volume) return userData === '' ? [] : addedDisk(vm, { name: CLOUD_INIT, cloudInitNoCloud: { userData } });
  if (userData === '' && volume.name === CLOUD_INIT) return removedDisk(vm, CLOUD_INIT);
  const source = [...TEMPLATE, 'volumes', index, volume.cloudInitNoCloud ? 'cloudInitNoCloud' : 'cloudInitConfigDrive'];
  return [
    { at: [...source, 'userDataBase64'], value: undefined },
    { at: [...source, 'userData'], value: userData },
  ];
}

function addedDisk(vm: Partial<VirtualMachine>, volume: Volume): Edit[] {
  const { volumes = [], domain } = vm.spec?.template?.spec ?? {};
  const disks = domain?.devices?.disks ?? [];
  return [
    { at: [...TEMPLATE, 'domain', 'devices', 'disks'], value: [...disks, { name: volume.name, disk: { bus: 'virtio' } }] },
    { at: [...TEMPLATE, 'volumes'], value: [...volumes, volume] },
  ];
}

function removedDisk(vm: Partial<VirtualMachine>, name: string): Edit[] {
  const { volumes = [], domain } = vm.spec?.template?.spec ?? {};
  const stays = (each: { readonly name: string }) => each.name !== name;
  return [
    { at: [...TEMPLATE, 'domain', 'devices', 'disks'], value: (domain?.devices?.disks ?? []).filter(stays) },
    { at: [...TEMPLATE, 'volumes'], value: volumes.filter(stays) },
  ];
}

/** Pipes into kubectl what the page sends; of a manifest that has more than the command can say, from a file. */
export function deriveCommand(vm: Partial<VirtualMachine>): string {
  const choices = deriveChoices(vm);
  const { namespace, name, image, cpus, memory, userData, isStarted } = choices;
  if (!deepEqual(withoutUserData(vm), deriveNewVm(choices))) return `kubectl create -n ${namespace} -f ${name || 'machine'}.yaml`;
  const words = [
    'virtctl create vm',
    `--name ${name}`,
    `--volume-containerdisk src:${image},name:root`,
    `--memory ${memory}`,
    `--cpus ${cpus}`,
    ...(userData === '' ? [] : ['--cloud-init-user-data "$(base64 -w0 user-data)"']),
    `--run-strategy ${isStarted ? 'Always' : 'Halted'}`,
  ];
  return `${words.join(' ')} | kubectl create -n ${namespace} -f -`;
}

function withoutUserData(vm: Partial<VirtualMachine>): unknown {
  const [disks, volumes] = removedDisk(vm, CLOUD_INIT).map(({ value }) => value);
  return mergePatch(vm, { spec: { template: { spec: { volumes, domain: { devices: { disks } } } } } });
}

/** Images that machines of this cluster use already, most used first, behind those that everybody has. */
export function deriveImages(used: readonly (string | undefined)[], known: readonly string[]): string[] {
  const counts = new Map<string, number>(known.map((image) => [image, 0]));
  for (const image of used) if (image) counts.set(image, (counts.get(image) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a).map(([image]) => image);
}
