/** The network of a machine, as the page shows it, and the Services that lead to it. Pure. */
import type { Service } from '../api/core/service.ts';
import { ANNOTATION_LOGIN_USER } from '../api/kubevirt/names.ts';
import { podLabelsOf } from '../api/launcher/pod-labels.ts';
import { escapeToOneLine } from '../base/escape-unprintable.ts';
import { matchesLabels, requirementsOf } from '../base/selectors.ts';
import { type HostAddress, hostPortsOf } from '../sdk/host-addresses.ts';
import type { Machine } from './derive-machines.ts';

export type CardRow = { readonly name: string; readonly mac: string; readonly addresses: string; readonly inGuest: string };
export type WayRow = {
  readonly service: string;
  readonly address: string;
  readonly port: string;
  /** Where it is on every node. */
  readonly nodePort: number | undefined;
  /** Where it is on the machine of an embedded cluster. */
  readonly here: HerePort | undefined;
};
export type HerePort = { readonly address: string; readonly href: string | undefined };

const SSH_PORT = 22;

/** What the guest's agent says about its cards is text of the guest. */
export function deriveCards({ vmi }: Machine): CardRow[] {
  return (vmi?.status?.interfaces ?? []).map(({ name, mac, ipAddress, ipAddresses, interfaceName }) => ({
    name: name ?? '–',
    mac: escapeToOneLine(mac ?? '–'),
    addresses: escapeToOneLine(ipAddresses?.join(', ') || ipAddress || '–'),
    inGuest: escapeToOneLine(interfaceName ?? '–'),
  }));
}

/** A line for each port of a Service that selects the Pod of the machine. */
export function deriveWays({ namespace, vmi }: Machine, services: readonly Service[]): WayRow[] {
  if (!vmi) return [];
  const labels = podLabelsOf(vmi);
  const leadsHere = ({ metadata, spec }: Service) =>
    metadata.namespace === namespace &&
    Object.keys(spec.selector ?? {}).length > 0 &&
    matchesLabels(requirementsOf({ matchLabels: spec.selector ?? {} }), labels);
  return services.filter(leadsHere).flatMap((service) => {
    const { metadata, spec } = service;
    const said = hostPortsOf(service);
    return (spec.ports ?? []).map(({ port, targetPort = port, protocol = 'TCP', nodePort }) => ({
      service: metadata.name,
      address: `${metadata.name}.${namespace}.svc:${port}`,
      port: `${targetPort}/${protocol}`,
      nodePort,
      here: said.flatMap((each) => (each.port === port && each.protocol === protocol ? [herePort(each, targetPort)] : []))[0],
    }));
  });
}

/** The embedded cluster has opened a port for it on its machine. */
export function isServedHere(service: Service): boolean {
  return hostPortsOf(service).length > 0;
}

/** A browser opens what may be a page: no UDP, no ssh. */
function herePort({ protocol, address, scheme = 'http' }: HostAddress, targetPort: number | string): HerePort {
  const isPage = protocol === 'TCP' && targetPort !== SSH_PORT;
  return { address: protocol === 'UDP' ? `${address}/udp` : address, href: isPage ? `${scheme}://${address}/` : undefined };
}

/** Lines that lead into the guest from a terminal. */
export function deriveCommands({ namespace, name, vm, vmi }: Machine): { readonly what: string; readonly command: string }[] {
  const at = `vm/${name}${namespace === 'default' ? '' : `/${namespace}`}`;
  const isUserKnown = (vm ?? vmi)?.metadata.annotations?.[ANNOTATION_LOGIN_USER] !== undefined;
  return [
    { what: 'the ssh command', command: `virtctl ssh ${isUserKnown ? '' : 'root@'}${at}` },
    { what: 'the port forward command', command: `virtctl port-forward ${at} 8080:80` },
  ];
}
