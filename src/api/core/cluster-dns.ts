/** Names inside a cluster: what our name server, the guests' DHCP and whoever explains it agree on. */

export const CLUSTER_DOMAIN = 'cluster.local';
/** The address of the Service `kube-dns` of the embedded cluster. */
export const CLUSTER_DNS_ADDRESS = '10.96.0.10';
/** The name server of the host, as it is reached from the network of an embedded cluster. An address for documents: nobody else has it. */
export const UPSTREAM_DNS_ADDRESS = '192.0.2.53';

/** Where a short name is looked for, in this order: Services as everywhere, then machines, by name and by name.namespace. */
export function searchDomainsOf(namespace: string): string[] {
  return [
    `${namespace}.svc.${CLUSTER_DOMAIN}`,
    `svc.${CLUSTER_DOMAIN}`,
    CLUSTER_DOMAIN,
    `${namespace}.vm.${CLUSTER_DOMAIN}`,
    `vm.${CLUSTER_DOMAIN}`,
  ];
}
