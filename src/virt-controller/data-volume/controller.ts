/** Fills the PVCs of DataVolumes: the loop of `observe` and `decide`. Where a CDI is installed it does nothing. */
import { isPodFinal, PODS, type Pod } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES } from '../../api/core/volume.ts';
import { VOLUME_SNAPSHOTS } from '../../api/core/volume-snapshot.ts';
import { importerPodNameOf } from '../../api/importer/importer-pod.ts';
import { type DataVolume, phaseOf } from '../../api/kubevirt/kinds/data-volume.ts';
import { isControlledBy, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { isApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { hasForeignCdi } from '../../client/foreign-cdi.ts';
import { runController } from '../../reconcile/controller.ts';
import { ownerKeysOf } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import { unfilledClaimsOf } from '../vmi/claims-of.ts';
import { decideDataVolume } from './decide.ts';
import type { Importer, ObservedDataVolume } from './observed.ts';
import { type AskProgress, askImporter } from './progress.ts';
import { needsPod } from './status.ts';

export type DataVolumeOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where to show how much there is to do. */
  readonly metrics?: MetricFamilies | undefined;
  readonly signal: AbortSignal;
  readonly dataVolumes: Cache<DataVolume>;
  /** Those of importers. */
  readonly importers: Cache<Pod>;
  readonly importer: Importer;
  /** Who vouches for virt-api, as PEM. */
  readonly readAuthority: () => Promise<string>;
  /** How far a Pod is; it is asked at its address when not given. */
  readonly askProgress?: AskProgress;
};

/** Runs until the signal aborts. */
export function runDataVolumeController(options: DataVolumeOptions): Promise<void> {
  const { client, clock, log, metrics, signal, dataVolumes, importers } = options;
  return runController<ObservedDataVolume>({
    name: 'datavolume-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [changesOf(dataVolumes, ({ metadata }) => [keyOf(metadata)]), changesOf(importers, ownerKeysOf('DataVolume'))],
    observe: (key) => observeDataVolume(options, key),
    decide: decideDataVolume,
    subject: ({ dataVolume }) => dataVolume,
  });
}

async function observeDataVolume(options: DataVolumeOptions, key: string): Promise<ObservedDataVolume | undefined> {
  const { client, clock, dataVolumes, importers, readAuthority, askProgress = askImporter } = options;
  const dataVolume = dataVolumes.get(key);
  if (!dataVolume || (await hasForeignCdi(client))) return undefined;
  const { namespace, name } = dataVolume.metadata;
  const podName = importerPodNameOf(dataVolume);
  const found = importers.get(keyOf({ namespace, name: podName })) ?? (await client.get(PODS, { namespace, name: podName }));
  const pod = found && isControlledBy(found, dataVolume) ? found : undefined;
  const claim = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name });
  const isUpload = dataVolume.spec.source?.upload !== undefined;
  const importer = { ...options.importer, ...(isUpload && !pod && { authority: await readAuthority() }) };
  const seen = { dataVolume, claim, pod, importer, now: clock.now() };
  if (phaseOf(dataVolume) === 'Succeeded' || phaseOf(dataVolume) === 'Failed') return { ...seen, isLate: false };
  const { pvc, snapshot } = dataVolume.spec.source ?? {};
  const source = pvc && (await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name: pvc.name }));
  const isSourceUnfilled = !pod && (await unfilledClaimsOf(client, source && new Map([[source.metadata.name, source]]))).size > 0;
  const isPending = claim !== undefined && claim.status?.phase !== 'Bound' && !needsPod({ dataVolume });
  return {
    ...seen,
    source,
    isSourceUnfilled,
    sourceUser: pvc && !pod ? await userOf(client, { namespace, name: pvc.name }) : undefined,
    snapshot: snapshot && (await snapshotOf(client, { namespace, name: snapshot.name })),
    progress: pod?.status?.phase === 'Running' ? await askProgress(pod) : undefined,
    isLate: isPending && (await isLate(client, claim.spec.storageClassName)),
  };
}

/** A Pod of the namespace that mounts the PVC and has not ended. */
async function userOf(client: Client, { namespace, name }: { namespace: string | undefined; name: string }): Promise<string | undefined> {
  const { items } = await client.list(PODS, namespace === undefined ? {} : { namespace });
  const uses = ({ spec }: Pod) => (spec.volumes ?? []).some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name);
  return items.find((pod) => !isPodFinal(pod) && uses(pod))?.metadata.name;
}

/** A cluster may have no VolumeSnapshots. */
async function snapshotOf(client: Client, at: { namespace: string | undefined; name: string }): Promise<ObservedDataVolume['snapshot']> {
  try {
    return await client.get(VOLUME_SNAPSHOTS, { ...(at.namespace !== undefined && { namespace: at.namespace }), name: at.name });
  } catch (error) {
    if (isApiError(error, 'NotFound')) return undefined;
    throw error;
  }
}

async function isLate(client: Client, name: string | undefined): Promise<boolean> {
  const { items } = await client.list(STORAGE_CLASSES);
  return items.some(({ metadata, volumeBindingMode }) => metadata.name === name && volumeBindingMode === 'WaitForFirstConsumer');
}
