/** The PVC of a DataVolume: how large it is, and what it says of where its content is from. Pure. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim, type VolumeMode } from '../../api/core/volume.ts';
import { SNAPSHOT_GROUP } from '../../api/core/volume-snapshot.ts';
import type { DataVolume } from '../../api/kubevirt/kinds/data-volume.ts';
import { CDI_ANNOTATIONS } from '../../api/kubevirt/names.ts';
import { claimBytesFor } from '../../api/kubevirt/volumes/disk-size.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { parseQuantity } from '../../base/quantity.ts';
import type { ObservedDataVolume } from './observed.ts';

/** On all that CDI makes, so that what selects by them finds ours, too. */
export const CDI_LABELS = { app: 'containerized-data-importer', 'app.kubernetes.io/component': 'storage' } as const;

/** As CDI names where content comes from. */
const SOURCES = { http: 'http', registry: 'registry', upload: undefined, blank: 'none', pvc: 'none', snapshot: 'none' } as const;
export type SourceName = keyof typeof SOURCES;

/** Where the content of a DataVolume comes from; undefined when it says nothing. */
export function sourceNameOf({ spec: { source = {} } }: DataVolume): SourceName | undefined {
  return (Object.keys(SOURCES) as SourceName[]).find((name) => source[name] !== undefined); // the keys of that very object
}

/** Undefined while nobody knows how large it is to be. */
export function claimFor(observed: Pick<ObservedDataVolume, 'dataVolume' | 'source' | 'snapshot'>): PersistentVolumeClaim | undefined {
  const { dataVolume } = observed;
  const { name, namespace, labels, annotations } = dataVolume.metadata;
  const wanted = dataVolume.spec.pvc ?? dataVolume.spec.storage ?? {};
  const storage = storageOf(observed);
  if (storage === undefined) return undefined;
  const { snapshot } = dataVolume.spec.source ?? {};
  return {
    apiVersion: apiVersionOf(PERSISTENT_VOLUME_CLAIMS),
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace,
      labels: { ...labels, ...CDI_LABELS },
      annotations: { ...ownAnnotations(annotations), ...sourceAnnotations(dataVolume) },
      ownerReferences: [controllerReferenceTo(dataVolume)],
    },
    spec: {
      accessModes: wanted.accessModes?.length ? wanted.accessModes : ['ReadWriteOnce'],
      ...(wanted.volumeMode && { volumeMode: wanted.volumeMode as VolumeMode }), // admission has looked at it
      ...(wanted.storageClassName !== undefined && { storageClassName: wanted.storageClassName }),
      resources: { requests: { storage } },
      ...(snapshot && { dataSource: { apiGroup: SNAPSHOT_GROUP, kind: 'VolumeSnapshot', name: snapshot.name } }),
    },
  };
}

/** What was asked for; of a copy that says nothing, what its source has. */
function storageOf({ dataVolume: { spec }, source, snapshot }: Parameters<typeof claimFor>[0]): string | undefined {
  const ofPvc = spec.pvc?.resources?.requests?.['storage'];
  if (ofPvc !== undefined) return String(ofPvc);
  const asked = spec.storage?.resources?.requests?.['storage'];
  const bytes = asked === undefined ? undefined : parseQuantity(asked);
  if (bytes !== undefined) return String(claimBytesFor(bytes));
  return source?.status?.capacity?.['storage'] ?? source?.spec.resources?.requests?.['storage'] ?? snapshot?.status?.restoreSize;
}

/** What kubectl keeps of a manifest is of another object. */
function ownAnnotations(annotations: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith('kubectl.kubernetes.io/')));
}

function sourceAnnotations(dataVolume: DataVolume): Record<string, string> {
  const name = sourceNameOf(dataVolume);
  const { http, registry } = dataVolume.spec.source ?? {};
  const endpoint = http?.url ?? registry?.url;
  return {
    [CDI_ANNOTATIONS.contentType]: dataVolume.spec.contentType ?? 'kubevirt',
    ...(name && SOURCES[name] && { [CDI_ANNOTATIONS.source]: SOURCES[name] }),
    ...(name === 'upload' && { [CDI_ANNOTATIONS.uploadTarget]: '' }),
    ...(endpoint !== undefined && { [CDI_ANNOTATIONS.endpoint]: endpoint }),
  };
}
