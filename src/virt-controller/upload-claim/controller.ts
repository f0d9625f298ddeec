/** Takes uploads for PVCs that are to have one and are of no DataVolume: the loop of `observe` and `decide`. Where a CDI is installed it does nothing. */
import { PODS, type Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { importerPodNameOf } from '../../api/importer/importer-pod.ts';
import { isControlledBy, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { hasForeignCdi } from '../../client/foreign-cdi.ts';
import { runController } from '../../reconcile/controller.ts';
import { ownerKeysOf } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import type { Importer } from '../data-volume/observed.ts';
import { type AskProgress, askImporter } from '../data-volume/progress.ts';
import { decideUploadClaim, isFilled, isUploadClaim, type ObservedUploadClaim } from './decide.ts';

export type UploadClaimOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where to show how much there is to do. */
  readonly metrics?: MetricFamilies | undefined;
  readonly signal: AbortSignal;
  readonly claims: Cache<PersistentVolumeClaim>;
  /** Those of importers. */
  readonly importers: Cache<Pod>;
  readonly importer: Importer;
  /** Who vouches for virt-api, as PEM. */
  readonly readAuthority: () => Promise<string>;
  readonly askProgress?: AskProgress;
};

/** Runs until the signal aborts. */
export function runUploadClaimController(options: UploadClaimOptions): Promise<void> {
  const { client, clock, log, metrics, signal, claims, importers } = options;
  return runController<ObservedUploadClaim>({
    name: 'upload-claim-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(claims, (claim) => (isUploadClaim(claim) ? [keyOf(claim.metadata)] : [])),
      changesOf(importers, ownerKeysOf('PersistentVolumeClaim')),
    ],
    observe: (key) => observeUploadClaim(options, key),
    decide: decideUploadClaim,
    subject: ({ claim }) => claim,
  });
}

async function observeUploadClaim(options: UploadClaimOptions, key: string): Promise<ObservedUploadClaim | undefined> {
  const { client, claims, importers, readAuthority, askProgress = askImporter } = options;
  const claim = claims.get(key);
  if (!claim || !isUploadClaim(claim) || (await hasForeignCdi(client))) return undefined;
  const at = { namespace: claim.metadata.namespace, name: importerPodNameOf(claim) };
  const found = importers.get(keyOf(at)) ?? (await client.get(PODS, at));
  const pod = found && isControlledBy(found, claim) ? found : undefined;
  if (pod || isFilled(claim))
    return { claim, pod, importer: options.importer, progress: pod?.status?.phase === 'Running' ? await askProgress(pod) : undefined };
  return { claim, importer: { ...options.importer, authority: await readAuthority() } };
}
