/** What the cluster has to know about the name server and the storage that run outside of it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { SNAPSHOT_GROUP, VOLUME_SNAPSHOT_CLASSES } from '../../../src/api/core/volume-snapshot.ts';
import type { KubeObject } from '../../../src/api/meta.ts';
import type { Plan } from '../plan.ts';
import { PROVISIONER, STORAGE_CLASS } from './decide.ts';

const DNS_PORTS = [
  { name: 'dns', port: 53, protocol: 'UDP' },
  { name: 'dns-tcp', port: 53, protocol: 'TCP' },
];

/** Paths and the objects to create there. */
export function addonObjects({ dnsServiceAddress, hostAddress }: Plan): [string, object][] {
  const metadata = { name: 'kube-dns', namespace: 'kube-system' };
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadata, labels: { 'k8s-app': 'kube-dns' } },
    spec: { clusterIP: dnsServiceAddress, ports: DNS_PORTS },
  };
  const slice = {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'kube-dns' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [hostAddress], conditions: { ready: true } }],
    ports: DNS_PORTS,
  };
  const storageClass = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: STORAGE_CLASS, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    provisioner: PROVISIONER,
    reclaimPolicy: 'Delete',
    volumeBindingMode: 'Immediate',
  };
  const snapshotClass = {
    apiVersion: `${SNAPSHOT_GROUP}/v1`,
    kind: VOLUME_SNAPSHOT_CLASSES.kind,
    metadata: { name: STORAGE_CLASS },
    driver: PROVISIONER,
    deletionPolicy: 'Delete',
  };
  return [
    ['/api/v1/namespaces/kube-system/services', service],
    ['/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices', slice],
    ['/apis/storage.k8s.io/v1/storageclasses', storageClass],
    ...snapshotKinds().map((each): [string, object] => ['/apis/apiextensions.k8s.io/v1/customresourcedefinitions', each]),
    [`/apis/${SNAPSHOT_GROUP}/v1/${VOLUME_SNAPSHOT_CLASSES.plural}`, snapshotClass],
  ];
}

const SNAPSHOT_KINDS = join(import.meta.dirname, '../../../src/cmd/embedded/manifests/volume-snapshots.yaml');

/** The definitions of snapshots, which a driver brings to a cluster: those that the embedded one has, too. */
function snapshotKinds(): KubeObject[] {
  const objects = parseAllDocuments(readFileSync(SNAPSHOT_KINDS, 'utf8')).map((document) => document.toJS() as KubeObject); // ours
  return objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
}
