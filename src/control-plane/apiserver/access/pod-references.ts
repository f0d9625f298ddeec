/**
 * The objects that a Pod has its node fetch: what its volumes, variables and image pulls name. A name that stands anywhere else in it (an argument, a
 * label, the name of a volume) names nothing. Secrets of a PersistentVolume are not among them: there are none that this cluster's nodes mount by.
 */
import type { Container, Pod, PodVolume } from '../../../api/core/pod.ts';

export type PodReference = { readonly resource: 'secrets' | 'configmaps' | 'persistentvolumeclaims'; readonly name: string };
type Named = { readonly name?: string } | undefined;

/** Volumes of other systems, which name the Secret to mount with. */
const SECRET_OF: Readonly<Record<string, 'secretRef' | 'nodePublishSecretRef'>> = {
  cephfs: 'secretRef',
  cinder: 'secretRef',
  csi: 'nodePublishSecretRef',
  flexVolume: 'secretRef',
  iscsi: 'secretRef',
  rbd: 'secretRef',
  scaleIO: 'secretRef',
  storageos: 'secretRef',
};

export function* referencesOf({ metadata, spec }: Pick<Pod, 'metadata' | 'spec'>): Generator<PodReference> {
  for (const secret of spec.imagePullSecrets ?? []) yield* named('secrets', secret);
  for (const container of [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])])
    yield* ofContainer(container);
  for (const volume of spec.volumes ?? []) yield* ofVolume(volume, metadata.name);
}

function* ofContainer({ env = [], envFrom = [] }: Container): Generator<PodReference> {
  for (const { secretRef, configMapRef } of envFrom) {
    yield* named('secrets', secretRef);
    yield* named('configmaps', configMapRef);
  }
  for (const { valueFrom } of env) {
    yield* named('secrets', valueFrom?.secretKeyRef);
    yield* named('configmaps', valueFrom?.configMapKeyRef);
  }
}

function* ofVolume(volume: PodVolume, podName: string): Generator<PodReference> {
  const { name, secret, configMap, projected, persistentVolumeClaim } = volume;
  yield* named('secrets', { name: secret?.secretName });
  yield* named('configmaps', configMap);
  for (const source of projected?.sources ?? []) {
    yield* named('secrets', source.secret);
    yield* named('configmaps', source.configMap);
  }
  yield* named('persistentvolumeclaims', { name: persistentVolumeClaim?.claimName });
  const others = volume as Readonly<Record<string, unknown>>;
  if (others['ephemeral']) yield { resource: 'persistentvolumeclaims', name: `${podName}-${name}` };
  const azure = others['azureFile'] as { readonly secretName?: string } | undefined; // checked by the schema
  yield* named('secrets', { name: azure?.secretName });
  for (const [kind, field] of Object.entries(SECRET_OF)) {
    const source = others[kind] as Readonly<Record<string, Named>> | undefined; // as above
    yield* named('secrets', source?.[field]);
  }
}

function* named(resource: PodReference['resource'], reference: Named): Generator<PodReference> {
  if (reference?.name) yield { resource, name: reference.name };
}
