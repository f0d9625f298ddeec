/** A machine from the few choices of the page, and the choices from any machine: form, manifest and command are views of one object. Pure. */

import type { PersistentVolumeClaim } from '../api/core/volume.ts';
import { runStrategyOf, type VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { ANNOTATION_DISK_IMAGE, ANNOTATION_LOGIN_USER } from '../api/kubevirt/names.ts';
import { guestMemoryBytesOf, vcpusOf } from '../api/kubevirt/vmi-size.ts';
import type { Volume } from '../api/kubevirt/vmi-spec-schema.ts';
import { imageOf } from '../api/kubevirt/volumes/source-of.ts';
import { deepEqual, mergePatch } from '../base/json.ts';
import { formatBytes } from '../base/quantity.ts';
import { buildClaim, DEFAULT_DISK, rootClaimName } from '../sdk/manifest/claim.ts';
import { loginData, loginIn, UNKNOWN_USER, withLoginUser } from '../sdk/manifest/login-data.ts';
import { buildVm } from '../sdk/manifest/vm.ts';
import { userDataOf } from './derive-setting-values.ts';
import { where } from './derive-where.ts';

export type NewVm = {
  readonly namespace: string;
  readonly name: string;
  readonly image: string;
  /** Nothing that the guest writes is kept when it stops. */
  readonly isEphemeral: boolean;
  /** Size of its disk, which begins as the image. */
  readonly disk: string;
  readonly cpus: number;
  readonly memory: string;
  /** Who logs in with the key, if there is one. */
  readonly user: string;
  readonly sshKey: string;
  /** Cloud-init user data; empty for none. That user and key are in it. */
  readonly userData: string;
  readonly isStarted: boolean;
};

/** What is made of them: a machine, and the claim that becomes a part of it. */
export type NewObjects = { readonly vm: VirtualMachine; readonly claim?: PersistentVolumeClaim };
/** The same as somebody may have typed it. */
export type TypedObjects = { readonly vm: Partial<VirtualMachine>; readonly claim?: Partial<PersistentVolumeClaim> };

/** A change of a manifest: where, and what is to stand there; undefined removes it. No path at all is the whole of it. */
export type Edit = { readonly of?: 'claim'; readonly at: readonly (string | number)[]; readonly value: unknown };

export const SIZES = {
  S: { cpus: 1, memory: '256Mi' },
  M: { cpus: 2, memory: '2Gi' },
  L: { cpus: 4, memory: '8Gi' },
} as const;

/** Where messages of the server about a choice stand. */
export const CHOICE_PATHS = {
  namespace: 'metadata.namespace',
  name: 'metadata.name',
  image: 'spec.template.spec.volumes',
  cpus: 'spec.template.spec.domain.cpu',
  memory: 'spec.template.spec.domain.memory',
  userData: 'spec.template.spec.volumes',
} as const satisfies Partial<Record<keyof NewVm, string>>;

const GRACE_PERIOD_SECONDS = 30;
const TEMPLATE = ['spec', 'template', 'spec'] as const;
const CLOUD_INIT = 'cloudinitdisk';
const ROOT = 'root';
const REQUESTED_SIZE = ['spec', 'resources', 'requests', 'storage'] as const;

type Choices = Omit<NewVm, 'userData' | 'user' | 'sshKey'> & Partial<Pick<NewVm, 'user' | 'sshKey'>>;

/** As `virtctl run` makes them; user data is put in by an edit. */
export function deriveNewVm({
  namespace,
  name,
  image,
  cpus,
  memory,
  isStarted,
  isEphemeral,
  disk,
  user = '',
  sshKey = '',
}: Choices): NewObjects {
  const vm = buildVm({
    name,
    namespace,
    runStrategy: isStarted ? 'Always' : 'Halted',
    memory,
    cpus,
    gracePeriodSeconds: GRACE_PERIOD_SECONDS,
    images: isEphemeral ? [{ source: image, name: ROOT }] : [],
    claims: isEphemeral ? [] : [{ source: rootClaimName(name), name: ROOT }],
  });
  const named = sshKey === '' ? vm : withLoginUser(vm, user);
  return isEphemeral ? { vm: named } : { vm: named, claim: claimFor({ namespace, name, image, disk }) };
}

function claimFor({ namespace, name, image, disk }: Pick<NewVm, 'namespace' | 'name' | 'image' | 'disk'>): PersistentVolumeClaim {
  const claim = buildClaim({ name: rootClaimName(name), image, size: disk });
  return { ...claim, metadata: { ...claim.metadata, namespace } };
}

/** What the form shows of a manifest that somebody may have written; what is not there is empty. */
export function deriveChoices({ vm, claim }: TypedObjects): NewVm {
  const spec = vm.spec?.template?.spec;
  const bytes = spec?.domain ? guestMemoryBytesOf(spec) : undefined;
  const userData = (spec && userDataOf(spec)) ?? '';
  const login = loginIn(userData);
  const inGuest = spec?.volumes?.map((volume) => imageOf(volume)?.image).find((image) => image);
  return {
    namespace: vm.metadata?.namespace ?? '',
    name: vm.metadata?.name ?? '',
    image: claim ? (claim.metadata?.annotations?.[ANNOTATION_DISK_IMAGE] ?? '') : (inGuest ?? ''),
    isEphemeral: claim === undefined,
    disk: String(claim?.spec?.resources?.requests?.['storage'] ?? ''),
    cpus: spec?.domain ? vcpusOf(spec) : 1,
    memory: String(spec?.domain?.memory?.guest ?? (bytes === undefined ? '' : formatBytes(bytes))),
    user: login?.user ?? '',
    sshKey: login?.publicKey ?? '',
    userData,
    isStarted: vm.spec !== undefined && !['Halted', 'Manual'].includes(runStrategyOf(vm as VirtualMachine)),
  };
}

/** What a change in the form changes of the manifest: all else stays as it was written. */
export function deriveEdits(typed: TypedObjects, changed: Partial<NewVm>): Edit[] {
  const { vm, claim } = typed;
  const edits: Edit[] = [];
  if (changed.namespace !== undefined) {
    edits.push({ at: ['metadata', 'namespace'], value: changed.namespace });
    if (claim) edits.push({ of: 'claim', at: ['metadata', 'namespace'], value: changed.namespace });
  }
  if (changed.name !== undefined) edits.push(...nameEdits(typed, changed.name));
  if (changed.image !== undefined) edits.push(...imageEdits(typed, changed.image));
  if (changed.isEphemeral !== undefined) edits.push(...diskEdits(typed, changed.isEphemeral));
  if (changed.disk !== undefined && claim) edits.push({ of: 'claim', at: REQUESTED_SIZE, value: changed.disk });
  if (changed.cpus !== undefined) edits.push({ at: [...TEMPLATE, 'domain', 'cpu', 'cores'], value: changed.cpus });
  if (changed.memory !== undefined) edits.push({ at: [...TEMPLATE, 'domain', 'memory', 'guest'], value: changed.memory });
  if (changed.isStarted !== undefined) edits.push({ at: ['spec', 'runStrategy'], value: changed.isStarted ? 'Always' : 'Halted' });
  if (changed.sshKey !== undefined || changed.user !== undefined) edits.push(...loginEdits(typed, changed));
  if (changed.userData !== undefined) edits.push(...userDataEdits(vm, changed.userData));
  return edits;
}

function nameEdits({ vm, claim }: TypedObjects, name: string): Edit[] {
  const { name: before = '' } = vm.metadata ?? {};
  const edits: Edit[] = [{ at: ['metadata', 'name'], value: name }];
  if (vm.spec?.template?.metadata?.labels?.['kubevirt.io/vm'] === before)
    edits.push({ at: ['spec', 'template', 'metadata', 'labels', 'kubevirt.io/vm'], value: name });
  if (claim?.metadata?.name !== rootClaimName(before)) return edits;
  const index = indexOfClaim({ vm, claim });
  if (index >= 0) edits.push({ at: [...TEMPLATE, 'volumes', index, 'persistentVolumeClaim', 'claimName'], value: rootClaimName(name) });
  return [...edits, { of: 'claim', at: ['metadata', 'name'], value: rootClaimName(name) }];
}

function imageEdits({ vm, claim }: TypedObjects, image: string): Edit[] {
  if (claim) return [{ of: 'claim', at: ['metadata', 'annotations', ANNOTATION_DISK_IMAGE], value: image }];
  const index = (vm.spec?.template?.spec?.volumes ?? []).findIndex((volume) => volume.containerDisk !== undefined);
  if (index >= 0) return [{ at: [...TEMPLATE, 'volumes', index, 'containerDisk', 'image'], value: image }];
  return addedDisk(vm, { name: ROOT, containerDisk: { image } });
}

/** From an image that is laid over to a disk that begins as it, and back. */
function diskEdits(typed: TypedObjects, isEphemeral: boolean): Edit[] {
  const { vm, claim } = typed;
  const volumes = vm.spec?.template?.spec?.volumes ?? [];
  const { image, namespace, name } = deriveChoices(typed);
  if (isEphemeral === (claim === undefined)) return [];
  const index = isEphemeral ? indexOfClaim(typed) : volumes.findIndex(({ containerDisk }) => containerDisk !== undefined);
  const volume = volumes[index];
  if (!volume) return [];
  const source = isEphemeral ? { containerDisk: { image } } : { persistentVolumeClaim: { claimName: rootClaimName(name) } };
  return [
    { at: [...TEMPLATE, 'volumes', index], value: { name: volume.name, ...source } },
    { of: 'claim', at: [], value: isEphemeral ? undefined : claimFor({ namespace, name, image, disk: DEFAULT_DISK }) },
  ];
}

function indexOfClaim({ vm, claim }: TypedObjects): number {
  const volumes = vm.spec?.template?.spec?.volumes ?? [];
  return volumes.findIndex(
    ({ persistentVolumeClaim }) => persistentVolumeClaim && persistentVolumeClaim.claimName === claim?.metadata?.name,
  );
}

/** Who has a key is known to `virtctl ssh` by an annotation. Of a document of somebody's own nothing is changed. */
function loginEdits(typed: TypedObjects, changed: Partial<NewVm>): Edit[] {
  const { vm } = typed;
  const before = deriveChoices(typed);
  if (before.userData !== '' && before.sshKey === '') return [];
  const publicKey = changed.sshKey ?? before.sshKey;
  const user = (changed.user ?? before.user) || UNKNOWN_USER;
  const annotated = (at: readonly string[], annotations: Readonly<Record<string, string>> = {}): Edit => {
    const { [ANNOTATION_LOGIN_USER]: _, ...others } = annotations;
    const all = publicKey === '' ? others : { ...others, [ANNOTATION_LOGIN_USER]: user };
    return { at: [...at, 'metadata', 'annotations'], value: Object.keys(all).length === 0 ? undefined : all };
  };
  return [
    annotated([], vm.metadata?.annotations),
    annotated(['spec', 'template'], vm.spec?.template?.metadata?.annotations),
    ...userDataEdits(vm, publicKey === '' ? '' : loginData({ user, publicKey })),
  ];
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

/** Does what the page does; of a manifest that has more than a command can say, from a file. */
export function deriveCommand(typed: TypedObjects): string {
  const choices = deriveChoices(typed);
  const { namespace, name, image, isEphemeral, disk, cpus, memory, user, sshKey, userData, isStarted } = choices;
  const same = deriveNewVm(choices);
  const isWhole = deepEqual(withoutUserData(typed.vm), same.vm) && deepEqual(typed.claim, same.claim);
  if (!isWhole || (!isStarted && (!isEphemeral || sshKey !== ''))) return `kubectl create -n ${namespace} -f ${name || 'machine'}.yaml`;
  if (isStarted) {
    const login = sshKey !== '' ? [`--user ${user}`, '--ssh-key key.pub'] : userData === '' ? [] : ['--cloud-init user-data'];
    const kept = isEphemeral ? '--ephemeral' : `--disk ${disk}`;
    const words = [`virtctl run ${image}`, `--name ${name}`, `--memory ${memory}`, `--cpus ${cpus}`, kept, ...login, '--detach'];
    return `${words.join(' ')}${where(namespace)}`;
  }
  const words = [
    'virtctl create vm',
    `--name ${name}`,
    `--volume-containerdisk src:${image},name:${ROOT}`,
    `--memory ${memory}`,
    `--cpus ${cpus}`,
    ...(userData === '' ? [] : ['--cloud-init-user-data "$(base64 -w0 user-data)"']),
    '--run-strategy Halted',
  ];
  return `${words.join(' ')} | kubectl create -n ${namespace} -f -`;
}

function withoutUserData(vm: Partial<VirtualMachine>): unknown {
  const [disks, volumes] = removedDisk(vm, CLOUD_INIT).map(({ value }) => value);
  return mergePatch(vm, { spec: { template: { spec: { volumes, domain: { devices: { disks } } } } } });
}
