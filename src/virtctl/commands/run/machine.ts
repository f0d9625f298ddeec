/** The manifest of a machine from an image: its size, its disk, what it shares, and who logs in. */
import type { PersistentVolumeClaim } from '../../../api/core/volume.ts';
import type { VirtualMachine } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { ANNOTATION_LOGIN_USER } from '../../../api/kubevirt/names.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { CatalogueEntry } from '../../../images/catalogue/entry.ts';
import { buildClaim } from '../../../sdk/manifest/claim.ts';
import { buildFolderClaim } from '../../../sdk/manifest/shared-folder.ts';
import { buildVm } from '../../../sdk/manifest/vm.ts';
import { DEFAULT_DISK, DEFAULT_MEMORY } from '../../create/flags.ts';
import { randomName } from '../../create/random-name.ts';
import type { SharedFolder } from './mounts.ts';

/** What is to be made; without a claim nothing that the guest writes is kept. */
export type Wanted = {
  readonly vm: VirtualMachine;
  readonly claim?: PersistentVolumeClaim;
  /** Folders of this machine, each with the claim that the new one has it by. */
  readonly folders?: readonly FolderClaim[];
};
export type FolderClaim = { readonly claim: PersistentVolumeClaim; readonly path: string };
export type MachineChoices = {
  readonly name: string;
  /** As the cluster finds it. */
  readonly reference: string;
  readonly entry?: CatalogueEntry | undefined;
  readonly memory?: string | undefined;
  readonly cpus?: number | undefined;
  readonly disk?: string | undefined;
  /** Of the disk in the image, where that is known: that of the machine is no smaller. */
  readonly imageBytes?: number | undefined;
  readonly isEphemeral: boolean;
  /** For one command: it is not started again, and nothing in it is worth waiting for at its end. */
  readonly isThrownAway: boolean;
  /** Who logs in, if that is known. */
  readonly user?: string | undefined;
  /** For cloud-init. */
  readonly userData?: Uint8Array | undefined;
  readonly shared?: readonly SharedFolder[];
};

const GRACE_PERIOD_SECONDS = 30;
const GIB = 2 ** 30;

export function machineFor(choices: MachineChoices): Wanted {
  const { name, reference, entry, cpus, isThrownAway, user, userData, shared = [] } = choices;
  const isEphemeral = choices.isEphemeral || isThrownAway;
  const size = choices.disk ?? noSmaller(entry?.disk ?? DEFAULT_DISK, choices.imageBytes);
  const claim = isEphemeral ? undefined : buildClaim({ name: `${name}-root`, image: reference, size });
  const folders = shared.map(({ tag, path, isReadOnly }) => {
    const named = { name: `${name}-${tag}`, volumeName: randomName(`folder-${name}-${tag}`) };
    return { claim: buildFolderClaim({ ...named, isReadOnly }), path };
  });
  const vm = buildVm({
    name,
    runStrategy: isThrownAway ? 'Once' : 'Always',
    memory: choices.memory ?? entry?.memory ?? DEFAULT_MEMORY,
    ...(cpus !== undefined && { cpus }),
    gracePeriodSeconds: isThrownAway ? 0 : GRACE_PERIOD_SECONDS,
    images: claim ? [] : [{ source: reference, name: 'root' }],
    claims: claim ? [{ source: claim.metadata.name, name: 'root' }] : [],
    folders: shared.map(({ tag, isReadOnly }) => ({ claim: `${name}-${tag}`, name: tag, isReadOnly })),
    ...(userData && { userDataBase64: Buffer.from(userData).toString('base64') }),
  });
  return { vm: user === undefined ? vm : withLoginUser(vm, user), ...(claim && { claim }), folders };
}

/** Whoever asks for a size gets that one; a size that nobody asked for makes room for the image. */
function noSmaller(size: string, imageBytes = 0): string {
  return imageBytes > (parseQuantity(size) ?? 0) ? `${Math.ceil(imageBytes / GIB)}Gi` : size;
}

/** On the machine for who looks at it, and on its instances, which are asked first. */
function withLoginUser(vm: VirtualMachine, user: string): VirtualMachine {
  const annotations = { [ANNOTATION_LOGIN_USER]: user };
  const { template } = vm.spec;
  return {
    ...vm,
    metadata: { ...vm.metadata, annotations },
    spec: { ...vm.spec, template: { ...template, metadata: { ...template.metadata, annotations } } },
  };
}
