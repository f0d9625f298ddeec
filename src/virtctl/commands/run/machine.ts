/** The manifest of a machine from an image: its size, its disk, what it shares, and who logs in. */
import { parseQuantity } from '../../../base/quantity.ts';
import type { CatalogueEntry } from '../../../images/catalogue/entry.ts';
import type { Wanted } from '../../../sdk/make-machine.ts';
import { buildClaim, DEFAULT_DISK, rootClaimName } from '../../../sdk/manifest/claim.ts';
import { withLoginUser } from '../../../sdk/manifest/login-data.ts';
import { buildFolderClaim } from '../../../sdk/manifest/shared-folder.ts';
import { buildVm } from '../../../sdk/manifest/vm.ts';
import { DEFAULT_MEMORY } from '../../create/flags.ts';
import { randomName } from '../../create/random-name.ts';
import type { SharedFolder } from './mounts.ts';

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
  const claim = isEphemeral ? undefined : buildClaim({ name: rootClaimName(name), image: reference, size });
  const folders = shared.map(({ tag, path, isReadOnly }) => {
    const named = { name: `${name}-${tag}`, volumeName: randomName(`folder-${name}-${tag}`) };
    return { claim: buildFolderClaim({ ...named, isReadOnly, path }), path };
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
