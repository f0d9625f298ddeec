/** What the cluster has to know about the name server and the storage that run outside of it. */
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
  return [
    ['/api/v1/namespaces/kube-system/services', service],
    ['/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices', slice],
    ['/apis/storage.k8s.io/v1/storageclasses', storageClass],
  ];
}
