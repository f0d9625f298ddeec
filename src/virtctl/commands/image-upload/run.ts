/** Sends a disk of this machine to a DataVolume or PVC of a cluster: makes that when it is not there, and goes on where an earlier try ended. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../api/core/volume.ts';
import { DATA_VOLUMES } from '../../../api/kubevirt/kinds/data-volume.ts';
import { CDI_ANNOTATIONS } from '../../../api/kubevirt/names.ts';
import { ApiError, UserError } from '../../../base/errors.ts';
import { MOST_BYTES } from '../../../images/qcow2-header.ts';
import { progressOf as wordsOf } from '../../../sdk/upload/transfer-progress.ts';
import { claimFor, dataVolumeFor, type NewTarget } from '../../../sdk/upload/upload-objects.ts';
import { targetState, untilTaken } from '../../../sdk/upload/upload-target.ts';
import { parseAmount } from '../../create/parse-amount.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { sendFile } from '../../upload/send-file.ts';
import { progressOf, untilInterrupted } from '../image/interruptible.ts';

type UploadFlags = ConnectionFlags & {
  readonly imagePath: string;
  readonly size?: string;
  readonly storageClass?: string;
  readonly accessMode?: string;
  readonly noCreate: boolean;
  readonly forceBind: boolean;
  /** Those two are for others. */
  readonly insecure: boolean;
  readonly uploadproxyUrl?: string;
};
type Kind = 'dv' | 'pvc';
type Target = { readonly kind: Kind; readonly name: string; readonly flags: UploadFlags };

export async function run(deps: ClusterDeps, flags: UploadFlags, word: string, name: string): Promise<void> {
  const { client, clock, namespace, stdout } = deps;
  const kind = word.toLowerCase();
  if (kind !== 'dv' && kind !== 'pvc')
    throw new UserError('USAGE', `${word} is not dv or pvc`, { fix: `virtctl image-upload dv ${name}`, exitCode: 2 });
  const path = resolve(deps.workingFolder, flags.imagePath);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UserError('FILE_MISSING', `${flags.imagePath} is no file`, { fix: '--image-path names the disk that is sent', exitCode: 2 });
  await ensureTarget(deps, { kind, name, flags });
  await untilInterrupted(deps, `all of it was sent; the same command continues`, (signal) =>
    progressOf(deps).step('upload', async ({ update }) => {
      const startedAtMs = clock.steady();
      const onProgress = (progress: Parameters<typeof wordsOf>[0]) =>
        update(wordsOf({ ...progress, elapsedMs: clock.steady() - startedAtMs }));
      await sendFile({ client, clock, namespace, name, path, signal, onProgress });
      return name;
    }),
  );
  stdout.write(`${flags.imagePath} is the disk of ${kind} ${name}\n`);
}

/** What is there already and waits for an upload is used. */
async function ensureTarget(deps: ClusterDeps, target: Target): Promise<void> {
  const { client, namespace, clock } = deps;
  const { kind, name, flags } = target;
  const at = { namespace, name };
  const claim = await client.get(PERSISTENT_VOLUME_CLAIMS, at);
  const isThere = claim ?? (kind === 'dv' ? await client.get(DATA_VOLUMES, at) : undefined);
  if (!isThere) await create(deps, target);
  else if (kind === 'pvc' && flags.noCreate && targetState({ claim, dataVolume: undefined }) === 'unmarked')
    await client.patch(PERSISTENT_VOLUME_CLAIMS, at, { metadata: { annotations: { [CDI_ANNOTATIONS.uploadTarget]: '' } } });
  await untilTaken({ client, clock, ...at });
}

async function create({ client, namespace }: ClusterDeps, { kind, name, flags }: Target): Promise<void> {
  const { size, storageClass, accessMode, noCreate, forceBind } = flags;
  const what = kind === 'dv' ? 'DataVolume' : 'PVC';
  if (noCreate) throw new ApiError('NotFound', `there is no ${what} "${name}" in namespace ${namespace}`);
  if (size === undefined)
    throw new UserError('USAGE', `${what} ${name} is to be made, and nobody says how large`, { fix: '--size 10Gi', exitCode: 2 });
  parseAmount('--size', size, MOST_BYTES);
  const target: NewTarget = { namespace, name, size, storageClass, accessMode, isBoundAtOnce: forceBind };
  if (kind === 'dv') await client.create(DATA_VOLUMES, dataVolumeFor(target));
  else await client.create(PERSISTENT_VOLUME_CLAIMS, claimFor(target));
}
