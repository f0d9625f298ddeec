/** The names that guests know, and the way to the name server. */
import { CLUSTER_DOMAIN, searchDomainsOf } from '../../../api/core/cluster-dns.ts';
import { SERVICES, type Service } from '../../../api/core/service.ts';
import { VMIS } from '../../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_HOST_ADDRESSES } from '../../../api/kubevirt/names.ts';
import { UserError } from '../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../../deps.ts';
import { renderTable } from '../../table.ts';

const DNS = { namespace: 'kube-system', name: 'kube-dns' };
const PATIENCE_MS = 10_000;

export async function run(deps: ClusterDeps, { host }: ConnectionFlags & { readonly host?: boolean }): Promise<void> {
  const { client, namespace, stdout } = deps;
  let dns = await client.get(SERVICES, DNS);
  if (!dns) {
    throw new UserError('DNS_MISSING', 'this cluster has no name server', {
      why: 'an embedded cluster on the network of the host (--host-network) has none, and others may call theirs otherwise',
      fix: 'virtctl down, then virtctl up without --host-network',
      exitCode: 3,
    });
  }
  if (host !== undefined) dns = await withHostPort(deps, host);
  const { items: services } = await client.list(SERVICES, { namespace });
  const { items: vmis } = await client.list(VMIS, { namespace });
  const rows = [
    ...vmis.map(({ metadata, status }) => [
      `${metadata.name}.${namespace}.vm.${CLUSTER_DOMAIN}`,
      status?.interfaces?.find(({ ipAddress }) => ipAddress)?.ipAddress ?? '-',
    ]),
    ...services.map(({ metadata, spec }) => [`${metadata.name}.${namespace}.svc.${CLUSTER_DOMAIN}`, addressOf(spec)]),
  ];
  if (rows.length > 0) stdout.write(`${renderTable([['NAME', 'ADDRESS'], ...rows])}\n`);
  stdout.write(`name server: ${dns.spec.clusterIP}\nsearched for short names: ${searchDomainsOf(namespace).join(' ')}\n`);
  stdout.write(`from this machine: ${onHost(dns)}\n`);
}

function addressOf({ clusterIP, type, externalName }: Service['spec']): string {
  if (type === 'ExternalName') return externalName ?? '-';
  return clusterIP === 'None' ? 'its endpoints' : (clusterIP ?? '-');
}

/** A NodePort is what leads in from the machine. */
async function withHostPort({ client, clock }: ClusterDeps, isWanted: boolean): Promise<Service> {
  const service = await client.patch(SERVICES, DNS, { spec: { type: isWanted ? 'NodePort' : 'ClusterIP' } });
  const deadline = clock.now() + PATIENCE_MS;
  for (let now = service; ; now = (await client.get(SERVICES, DNS)) ?? now) {
    if ((hostAddress(now) !== undefined) === isWanted || clock.now() > deadline) return now;
    await clock.sleep(100);
  }
}

/** `53:30053/UDP=127.0.0.1:30053` */
function hostAddress({ metadata }: Service): string | undefined {
  const said = metadata.annotations?.[ANNOTATION_HOST_ADDRESSES]?.split(',') ?? [];
  return said.find((each) => each.includes('/UDP='))?.split('=')[1];
}

function onHost(dns: Service): string {
  const [address, port] = hostAddress(dns)?.split(':') ?? [];
  if (!port) return 'virtctl dns --host opens a port of 127.0.0.1 for it';
  return `dig @${address} -p ${port} NAME; addresses are those inside of the cluster, virtctl port-forward and NodePorts lead there`;
}
