/**
 * The name under which the cluster finds an image.
 *
 *   the image                       embedded cluster of this data folder      another cluster            no cluster (--dry-run)
 *   of the store (localhost/...)    its name; refused when it is not there    its name                   its name
 *   of a registry                   pulled here first, with progress          its name: nodes pull it    its name
 *   at an address, or a file        brought into the store                    refused: push it           brought into the store
 */
import { UserError } from '../../../base/errors.ts';
import { isLocalOnly } from '../../../base/image-reference.ts';
import { diskSizeOf } from '../../../images/disk-size.ts';
import { openImageStore } from '../../../images/store.ts';
import { assertNameIsFree } from '../../../sdk/make-machine.ts';
import type { Connection, Deps } from '../../deps.ts';
import { obtainImage } from '../../images/obtain-image.ts';
import { isOwnEmbedded } from '../../images/own-cluster.ts';
import type { ResolvedImage } from '../../images/resolve-image.ts';
import { createProgress } from '../../progress.ts';
import { untilInterrupted } from '../image/interruptible.ts';
import { storeFolder } from '../image/store-folder.ts';

type Options = {
  /** Of the machine that it is for. */
  readonly name: string;
  readonly image: ResolvedImage;
  /** For people. */
  readonly said: string;
  readonly connection: Connection | undefined;
  readonly cacheBytes: number;
};

/** What is known of the image then. */
type Found = { readonly reference: string; readonly imageBytes?: number | undefined };

export async function referenceFor(deps: Deps, { name, image, said, connection, cacheBytes }: Options): Promise<Found> {
  const { source } = image;
  if (source.is === 'image' && !connection) return { reference: source.reference };
  if (source.is === 'image' && isLocalOnly(source.reference)) return { reference: await stored(deps, source.reference, connection) };
  if (connection && !(await isOwnEmbedded(deps, connection))) {
    if (source.is === 'image') return { reference: source.reference };
    throw notHere(source.is === 'url' ? source.at.url : said, connection);
  }
  if (connection) await assertNameIsFree(name, connection);
  const progress = createProgress(deps.stderr, deps.clock, deps.env);
  return untilInterrupted(deps, `${said} was here`, async (signal) => {
    const reference = await obtainImage(deps, { image, progress, signal, cacheBytes });
    if (source.is === 'image') return { reference };
    return { reference, imageBytes: await diskSizeOf(storeFolder(deps), reference, signal) };
  });
}

/** A machine of an image that nobody can pull would wait for ever. What a store somewhere else has is not known. */
async function stored(deps: Deps, reference: string, connection: Connection | undefined): Promise<string> {
  if (!connection || openImageStore(storeFolder(deps)).resolve(reference) !== undefined) return reference;
  if (!(await isOwnEmbedded(deps, connection))) return reference;
  throw new UserError('IMAGE_MISSING', `there is no image ${reference} on this machine`, {
    why: 'virtctl image list does not have it, and names under localhost are never pulled',
    fix: `virtctl image import FILE ${reference} gives a disk this name; virtctl image search lists what can be had`,
    exitCode: 3,
  });
}

function notHere(disk: string, { server }: Connection): UserError {
  return new UserError('IMAGE_NOT_IN_REGISTRY', `the nodes of the cluster at ${server} cannot have ${disk}`, {
    why: 'they pull images from registries; disks of this machine and from addresses are for the embedded cluster of this data folder',
    fix: `virtctl image push ${/^https?:/.test(disk) ? 'FILE' : disk} HOST/NAME:TAG, then virtctl run HOST/NAME:TAG`,
    exitCode: 4,
  });
}
