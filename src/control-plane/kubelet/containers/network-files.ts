/** /etc/hosts, /etc/hostname and /etc/resolv.conf of a Pod's containers. Pure. */
import { CLUSTER_DOMAIN, searchDomainsOf } from '../../../api/core/cluster-dns.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { SLIRP_NAME_SERVER } from './sandbox.ts';

export type NetworkFiles = Readonly<Record<'hosts' | 'hostname' | 'resolv.conf', string>>;

/** `clusterDns` is the address of the cluster's own name server, when it has one. */
export function networkFilesOf(pod: Pod, podIP: string, clusterDns: string | undefined): NetworkFiles {
  const hostname = hostnameOf(pod);
  return { hosts: hostsOf(pod, podIP, hostname), hostname: `${hostname}\n`, 'resolv.conf': resolvConfOf(pod, clusterDns) };
}

/** The name of the Pod, which may be longer than the kernel takes. */
export function hostnameOf({ spec, metadata }: Pod): string {
  return (spec.hostname ?? metadata.name).slice(0, 63).replace(/[-.]+$/, '');
}

function hostsOf({ spec, metadata }: Pod, podIP: string, hostname: string): string {
  const full = spec.subdomain ? `${hostname}.${spec.subdomain}.${metadata.namespace}.svc.${CLUSTER_DOMAIN}\t` : '';
  const aliases = (spec.hostAliases ?? []).map(({ ip, hostnames = [] }) => `${ip}\t${hostnames.join('\t')}\n`);
  return `127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n${podIP}\t${full}${hostname}\n${aliases.join('')}`;
}

function resolvConfOf({ spec, metadata }: Pod, clusterDns: string | undefined): string {
  const { nameservers = [], searches = [], options = [] } = spec.dnsConfig ?? {};
  const isCluster = clusterDns !== undefined && (spec.dnsPolicy ?? 'ClusterFirst').startsWith('ClusterFirst');
  const own = spec.dnsPolicy === 'None' ? [] : [isCluster ? clusterDns : SLIRP_NAME_SERVER];
  const domains = isCluster ? searchDomainsOf(metadata.namespace ?? 'default') : [];
  const search = [...domains, ...searches];
  const words = [
    ...(isCluster ? ['ndots:5'] : []),
    ...options.map(({ name = '', value }) => (value === undefined ? name : `${name}:${value}`)),
  ];
  return [
    ...[...own, ...nameservers].slice(0, 3).map((address) => `nameserver ${address}`),
    ...(search.length > 0 ? [`search ${search.join(' ')}`] : []),
    ...(words.length > 0 ? [`options ${words.join(' ')}`] : []),
    '',
  ].join('\n');
}
