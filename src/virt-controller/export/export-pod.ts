/** The Pod that serves the disks of an export, its Service and its Secret; the Pod is fit for the restricted Pod security standard. Pure. */
import { PODS, type Pod } from '../../api/core/pod.ts';
import { SECRETS, type Secret } from '../../api/core/secret.ts';
import { SERVICES, type Service } from '../../api/core/service.ts';
import {
  EXPORT_PORT,
  EXPORT_TOKEN_KEY,
  EXPORT_TOKEN_MOUNT,
  EXPORT_VARIABLE,
  EXPORT_WORK_MOUNT,
  EXPORTER_CONTAINER,
  type ExportTask,
  exportedDevice,
  exportedMount,
  exportObjectName,
  exportProxyPath,
  LABEL_EXPORT_SERVICE,
} from '../../api/exporter/exporter.ts';
import { IMPORT_ADDRESS_VARIABLE, IMPORT_PORT, IMPORTER_PROGRAM } from '../../api/importer/importer-pod.ts';
import type { VirtualMachineExport } from '../../api/kubevirt/kinds/vm-export.ts';
import { ANNOTATION_DISK_FORMAT } from '../../api/kubevirt/names.ts';
import { QEMU_USER } from '../../api/launcher/compute.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import type { ObservedVmExport } from './observed.ts';

/** Of compressing, and of qemu-nbd. */
const RESOURCES = { requests: { cpu: '100m', memory: '100M' }, limits: { memory: '1Gi' } } as const;
/** What an environment takes for certain; a larger machine has no manifests. */
const MOST_MACHINE_BYTES = 64 * 1024;

type Place = Pick<ObservedVmExport, 'export' | 'source' | 'external' | 'image'>;

export function exporterPodFor(place: Place, tokenSecret: string): Pod {
  const { volumes } = place.source;
  const disks = volumes.map(({ claimName }, index) => ({
    name: exportedMount(index).name,
    persistentVolumeClaim: { claimName },
  }));
  return {
    apiVersion: apiVersionOf(PODS),
    kind: 'Pod',
    metadata: metadataOf(place.export),
    spec: {
      restartPolicy: 'OnFailure',
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      securityContext: {
        runAsUser: QEMU_USER,
        runAsGroup: QEMU_USER,
        runAsNonRoot: true,
        fsGroup: QEMU_USER,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: EXPORTER_CONTAINER,
          image: place.image,
          imagePullPolicy: 'IfNotPresent',
          command: [IMPORTER_PROGRAM],
          // A kubelet expands $(X) in values; in JSON a dollar can be written without one.
          env: [
            { name: EXPORT_VARIABLE, value: JSON.stringify(taskFor(place)).replaceAll('$', '\\u0024') },
            { name: IMPORT_ADDRESS_VARIABLE, valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
          ],
          ports: [
            { name: 'exports', containerPort: EXPORT_PORT, protocol: 'TCP' },
            { name: 'state', containerPort: IMPORT_PORT, protocol: 'TCP' },
          ],
          resources: RESOURCES,
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] }, readOnlyRootFilesystem: true },
          terminationMessagePolicy: 'FallbackToLogsOnError',
          volumeMounts: [
            EXPORT_WORK_MOUNT,
            { ...EXPORT_TOKEN_MOUNT, readOnly: true },
            ...volumes.flatMap((volume, index) => (isDevice(volume) ? [] : [{ ...exportedMount(index), readOnly: true }])),
          ],
          ...(volumes.some(isDevice) && {
            volumeDevices: volumes.flatMap((volume, index) => (isDevice(volume) ? [exportedDevice(index)] : [])),
          }),
        },
      ],
      volumes: [
        { name: EXPORT_WORK_MOUNT.name, emptyDir: {} },
        { name: EXPORT_TOKEN_MOUNT.name, secret: { secretName: tokenSecret } },
        ...disks,
      ],
    },
  };
}

function isDevice({ claim, made }: Pick<Place['source']['volumes'][number], 'claim' | 'made'>): boolean {
  return (claim ?? made)?.spec.volumeMode === 'Block';
}

/** Who comes by it is in the cluster. */
export function exportServiceFor(exported: VirtualMachineExport): Service {
  const metadata = metadataOf(exported);
  return {
    apiVersion: apiVersionOf(SERVICES),
    kind: 'Service',
    metadata,
    spec: { selector: metadata.labels, ports: [{ name: 'export', port: 443, targetPort: EXPORT_PORT, protocol: 'TCP' }] },
  };
}

export function tokenSecretFor(exported: VirtualMachineExport, { token, suffix }: NonNullable<ObservedVmExport['fresh']>): Secret {
  return {
    apiVersion: apiVersionOf(SECRETS),
    kind: 'Secret',
    metadata: {
      name: `${exportObjectName(exported.metadata.name).slice(0, 50)}-${suffix}`,
      namespace: exported.metadata.namespace,
      ownerReferences: [controllerReferenceTo(exported)],
    },
    type: 'Opaque',
    data: { [EXPORT_TOKEN_KEY]: btoa(token) },
  };
}

/** Where the Pod is for those in the cluster. */
export function internalUrl({ metadata: { namespace, name } }: VirtualMachineExport): string {
  return `https://${exportObjectName(name)}.${namespace}.svc`;
}

/** Where it is for those outside, below an address of the proxy. */
export function externalUrl({ metadata: { namespace = '', name } }: VirtualMachineExport, address: string): string {
  return `${address}${exportProxyPath({ namespace, name })}`;
}

function metadataOf(exported: VirtualMachineExport) {
  const name = exportObjectName(exported.metadata.name);
  return {
    name,
    namespace: exported.metadata.namespace,
    labels: { [LABEL_EXPORT_SERVICE]: name },
    ownerReferences: [controllerReferenceTo(exported)],
  };
}

function taskFor({ export: exported, source, external }: Place): ExportTask {
  const { namespace, name } = exported.metadata;
  const service = exportObjectName(name);
  const { machine } = source;
  return {
    exportName: name,
    volumes: source.volumes.map(({ name: volume, claim, made }) => {
      const format = (claim ?? made)?.metadata.annotations?.[ANNOTATION_DISK_FORMAT]?.trim();
      const storage = (claim ?? made)?.spec.resources?.requests?.['storage'];
      const device = isDevice({ claim, made }) && ({ isDevice: true } as const);
      return { name: volume, ...(format && { format }), ...(storage && { storage }), ...device };
    }),
    serverNames: [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`, `${service}.${namespace}`, 'localhost'],
    bases: {
      internal: { url: internalUrl(exported) },
      ...(external && { external: { url: externalUrl(exported, external.url), cert: external.cert } }),
    },
    ...(machine && JSON.stringify(machine).length <= MOST_MACHINE_BYTES && { machine }),
  };
}
