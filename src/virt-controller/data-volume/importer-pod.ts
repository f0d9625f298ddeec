/** The Pod that fills the PVC of a DataVolume; fit for the restricted Pod security standard. Pure. */
import { PODS, type Pod, type PodVolume, type VolumeMount } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import {
  IMPORT_ADDRESS_VARIABLE,
  IMPORT_PORT,
  IMPORT_VARIABLE,
  IMPORTER_CONTAINER,
  IMPORTER_PROGRAM,
  type ImportTask,
  importerPodNameOf,
  SOURCE_MOUNT,
  TARGET_MOUNT,
} from '../../api/importer/importer-pod.ts';
import { UPLOAD_AUTHORITY_VARIABLE, UPLOAD_PORT } from '../../api/importer/upload.ts';
import type { DataVolume } from '../../api/kubevirt/kinds/data-volume.ts';
import { ANNOTATION_DISK_FORMAT, LABEL_CDI } from '../../api/kubevirt/names.ts';
import { QEMU_USER } from '../../api/launcher/compute.ts';
import { controllerReferenceTo, type KubeObject } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { diskBytesOn } from '../vmi/claims.ts';
import { CDI_LABELS } from './claim-for.ts';
import type { Importer, ObservedDataVolume } from './observed.ts';

const DOCKER = 'docker://';
/** Of a download and of qemu-img, which works in small pieces: it has bounds of its own. */
const RESOURCES = { requests: { cpu: '100m', memory: '60M' }, limits: { memory: '1Gi' } } as const;

type Options = Pick<ObservedDataVolume, 'dataVolume' | 'source' | 'importer'> & { readonly claim: PersistentVolumeClaim };

/** Undefined for a source that needs no Pod. */
export function importerPodFor(options: Options): Pod | undefined {
  const { dataVolume, claim, importer } = options;
  if (dataVolume.spec.source?.upload) return uploadPodFor({ owner: dataVolume, claim, importer });
  const work = workOf(options);
  return work && podFor({ owner: dataVolume, claim, importer }, work);
}

type Place = {
  /** What it is for, and goes with. */
  readonly owner: KubeObject;
  readonly claim: PersistentVolumeClaim;
  readonly importer: Importer;
};

/** The Pod that takes what is sent for a PVC. */
export function uploadPodFor(place: Place): Pod {
  const env = [{ name: UPLOAD_AUTHORITY_VARIABLE, value: place.importer.authority ?? '' }];
  const ports = [{ name: 'upload', containerPort: UPLOAD_PORT, protocol: 'TCP' as const }];
  return podFor(place, { task: { from: 'upload', sizeBytes: diskBytesOn(place.claim) ?? 0 }, volumes: [], mounts: [], env, ports });
}

function podFor({ owner, claim, importer }: Place, work: Work): Pod {
  return {
    apiVersion: apiVersionOf(PODS),
    kind: 'Pod',
    metadata: {
      name: importerPodNameOf(owner),
      namespace: owner.metadata.namespace,
      labels: { ...CDI_LABELS, [LABEL_CDI]: work.task.from === 'upload' ? 'cdi-upload-server' : 'importer' },
      ownerReferences: [controllerReferenceTo(owner)],
    },
    spec: {
      restartPolicy: 'OnFailure',
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 5,
      securityContext: {
        runAsUser: QEMU_USER,
        runAsGroup: QEMU_USER,
        runAsNonRoot: true,
        fsGroup: QEMU_USER,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: IMPORTER_CONTAINER,
          image: importer.image,
          imagePullPolicy: 'IfNotPresent',
          command: [IMPORTER_PROGRAM],
          // A kubelet expands $(X) in values; in JSON a dollar can be written without one.
          env: [
            { name: IMPORT_VARIABLE, value: JSON.stringify(work.task).replaceAll('$', '\\u0024') },
            { name: IMPORT_ADDRESS_VARIABLE, valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
            ...(work.env ?? []),
          ],
          ports: [{ name: 'progress', containerPort: IMPORT_PORT, protocol: 'TCP' }, ...(work.ports ?? [])],
          resources: RESOURCES,
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: [TARGET_MOUNT, ...work.mounts],
        },
      ],
      volumes: [{ name: TARGET_MOUNT.name, persistentVolumeClaim: { claimName: claim.metadata.name } }, ...work.volumes],
    },
  };
}

/** The image that a `registry.url` names. */
function imageOf(url: string): string {
  return url.startsWith(DOCKER) ? url.slice(DOCKER.length) : url;
}

type Work = {
  readonly task: ImportTask;
  readonly volumes: readonly PodVolume[];
  readonly mounts: readonly VolumeMount[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number; readonly protocol: 'TCP' }[];
};

function workOf({ dataVolume, claim, source, importer }: Options): Work | undefined {
  const sizeBytes = diskBytesOn(claim) ?? 0;
  const { http, registry, pvc }: NonNullable<DataVolume['spec']['source']> = dataVolume.spec.source ?? {};
  if (http) {
    const { url, checksum } = http;
    return { task: { from: 'http', url, sizeBytes, ...(checksum && { checksum }) }, volumes: [], mounts: [] };
  }
  const readSource = (volume: Omit<PodVolume, 'name'>): Pick<Work, 'volumes' | 'mounts'> => ({
    volumes: [{ name: SOURCE_MOUNT.name, ...volume }],
    mounts: [{ ...SOURCE_MOUNT, readOnly: true }],
  });
  if (registry) {
    const image = imageOf(registry.url ?? '');
    const isMounted = importer.way === 'image-volume';
    const parts = isMounted ? readSource({ image: { reference: image, pullPolicy: 'IfNotPresent' } }) : { volumes: [], mounts: [] };
    return { task: { from: 'registry', image, isMounted, sizeBytes }, ...parts };
  }
  if (!pvc) return undefined;
  const format = source?.metadata.annotations?.[ANNOTATION_DISK_FORMAT];
  // Not mounted as one that is only read: some storage has volumes that one Pod may mount in one way at a time.
  return { task: { from: 'pvc', sizeBytes, ...(format && { format }) }, ...readSource({ persistentVolumeClaim: { claimName: pvc.name } }) };
}
