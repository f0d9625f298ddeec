/** The DataVolume or PVC that a disk is sent to, as KubeVirt's virtctl makes them. Pure. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { DATA_VOLUMES, type DataVolume } from '../../api/kubevirt/kinds/data-volume.ts';
import { ANNOTATION_BIND_IMMEDIATELY, CDI_ANNOTATIONS } from '../../api/kubevirt/names.ts';
import { apiVersionOf } from '../../api/resource.ts';

export type NewTarget = {
  readonly namespace: string;
  readonly name: string;
  readonly size: string;
  readonly storageClass?: string | undefined;
  readonly accessMode?: string | undefined;
  readonly isBoundAtOnce: boolean;
};

type AccessMode = 'ReadWriteOnce' | 'ReadWriteMany' | 'ReadWriteOncePod';

export function dataVolumeFor(target: NewTarget): DataVolume {
  const { namespace, name } = target;
  return {
    apiVersion: apiVersionOf(DATA_VOLUMES),
    kind: 'DataVolume',
    metadata: { namespace, name, annotations: bindAnnotation(target) },
    spec: { source: { upload: {} }, contentType: 'kubevirt', storage: wishOf(target) },
  };
}

export function claimFor(target: NewTarget): PersistentVolumeClaim {
  const { namespace, name } = target;
  const annotations = { [CDI_ANNOTATIONS.uploadTarget]: '', [CDI_ANNOTATIONS.contentType]: 'kubevirt', ...bindAnnotation(target) };
  return {
    apiVersion: apiVersionOf(PERSISTENT_VOLUME_CLAIMS),
    kind: 'PersistentVolumeClaim',
    metadata: { namespace, name, annotations },
    spec: { accessModes: ['ReadWriteOnce'], ...wishOf(target) },
  };
}

function bindAnnotation({ isBoundAtOnce }: NewTarget): Record<string, string> {
  return isBoundAtOnce ? { [ANNOTATION_BIND_IMMEDIATELY]: '' } : {};
}

function wishOf({ size, storageClass, accessMode }: NewTarget) {
  return {
    resources: { requests: { storage: size } },
    ...(storageClass !== undefined && { storageClassName: storageClass }),
    ...(accessMode !== undefined && { accessModes: [accessMode as AccessMode] }), // the server says which there are
  };
}
