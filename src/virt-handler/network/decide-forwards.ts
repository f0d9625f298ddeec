/**
 * Which ports of a guest have to be open at the address of its Pod, once the guest takes connections there (`decide.ts`). QEMU's user network lets in only what it was told to, so "all ports"
 * (masquerade) means those that somebody can ask for:
 *
 *   declared   the ports of the interface and those in its ranges; when it declares any, only those
 *   served     the target ports of Services that select the Pod, so many
 *   probed     the ports that its probes ask at
 *   usual      those of well-known servers, where none is declared
 *   asked for  by port-forward, for as long as it is connected
 *
 * To open all 65,535 would take 224 MiB of the kernel's memory for each machine (ADR 29).
 */
import type { Pod } from '../../api/core/pod.ts';
import type { Service } from '../../api/core/service.ts';
import type { Protocol } from '../../api/handler/route-path.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { MOST_PORTS } from '../../api/kubevirt/vmi-size.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';

export type GuestPort = { readonly protocol: Protocol; readonly port: number };

export type Seen = { readonly vmi: VirtualMachineInstance; readonly pod: Pod; readonly services: readonly Service[] };

/** ssh, web, remote desktop, databases and what people serve metrics and prototypes on. */
const USUAL = [22, 80, 443, 3000, 3306, 3389, 5000, 5432, 6379, 6443, 8000, 8080, 8443, 8888, 9000, 9090, 9100, 9200, 27017];

/** Each port once, in the order of the table above. */
export function wantedPorts(seen: Seen): GuestPort[] {
  const wanted = [...decideForwards(seen), ...usualPorts(seen.vmi)];
  return eachOnce(wanted);
}

/** Each port once, without the usual ones. */
export function decideForwards({ vmi, pod, services }: Seen): GuestPort[] {
  if (!hasUserNetwork(vmi)) return [];
  const served = services.filter((service) => selects(service, pod)).flatMap((service) => targetsOf(service, { vmi, pod }));
  return eachOnce([...declaredOf(vmi), ...eachOnce(served.filter(permissionOf(vmi))).slice(0, MOST_PORTS), ...probedOf(vmi)]);
}

function eachOnce(ports: readonly GuestPort[]): GuestPort[] {
  return [...new Map(ports.map((port) => [portId(port), port])).values()];
}

/** Ports that are good to have, of a machine that declares none. */
export function usualPorts(vmi: VirtualMachineInstance): GuestPort[] {
  if (declaredOf(vmi).length > 0) return [];
  return USUAL.map((port): GuestPort => ({ protocol: 'tcp', port })).filter(permissionOf(vmi));
}

/** Whether this port of the guest may be reached at all. */
export function mayOpen(vmi: VirtualMachineInstance, port: GuestPort): boolean {
  return permissionOf(vmi)(port);
}

/** The same of many ports: a Service may have thousands. */
function permissionOf(vmi: VirtualMachineInstance): (port: GuestPort) => boolean {
  const declared = new Set(declaredOf(vmi).map(portId));
  const isReachable = hasUserNetwork(vmi);
  return (port) => isReachable && (declared.size === 0 || declared.has(portId(port)));
}

/** The guest has a card on the network of its Pod. */
function hasUserNetwork({ spec }: VirtualMachineInstance): boolean {
  const { interfaces, autoattachPodInterface } = spec.domain.devices;
  return Boolean(interfaces?.length) || (!spec.networks?.length && autoattachPodInterface !== false);
}

/** Told apart from every other port of the same guest. */
function portId({ protocol, port }: GuestPort): string {
  return `${protocol} ${port}`;
}

/** Whether the Service is one of this Pod. */
export function selects({ metadata, spec }: Service, pod: Pod): boolean {
  const { selector = {} } = spec;
  if (metadata.namespace !== pod.metadata.namespace || Object.keys(selector).length === 0) return false;
  return matchesLabels(requirementsOf({ matchLabels: selector }), pod.metadata.labels ?? {});
}

function targetsOf({ spec }: Service, { vmi, pod }: Pick<Seen, 'vmi' | 'pod'>): GuestPort[] {
  return (spec.ports ?? []).flatMap(({ port, targetPort = port, protocol }) => {
    const number = typeof targetPort === 'number' ? targetPort : portNamed(targetPort, { vmi, pod });
    return number === undefined ? [] : toPort(number, protocol);
  });
}

function portNamed(name: string, { vmi, pod }: Pick<Seen, 'vmi' | 'pod'>): number | undefined {
  const ofPod = pod.spec.containers.flatMap(({ ports = [] }) => ports).find((port) => port.name === name)?.containerPort;
  return ofPod ?? portsOf(vmi).find((port) => port.name === name)?.port;
}

function declaredOf(vmi: VirtualMachineInstance): GuestPort[] {
  return [...portsOf(vmi), ...rangesOf(vmi)].flatMap(({ port, protocol }) => toPort(port, protocol));
}

function probedOf({ spec }: VirtualMachineInstance): GuestPort[] {
  return [spec.readinessProbe, spec.livenessProbe].flatMap((probe) => {
    const port = (probe?.httpGet ?? probe?.tcpSocket)?.port;
    return typeof port === 'number' ? toPort(port) : [];
  });
}

/** Admission has bounded them; of what an older release let in, the first are open. */
function portsOf({ spec }: VirtualMachineInstance) {
  return (spec.domain.devices.interfaces ?? []).flatMap(({ ports = [] }) => ports.slice(0, MOST_PORTS));
}

/** As above. */
function rangesOf({ spec }: VirtualMachineInstance) {
  const ranges = (spec.domain.devices.interfaces ?? []).flatMap(({ portRanges = [] }) => portRanges);
  return ranges.flatMap(({ start, end = start, protocol }) =>
    Array.from({ length: Math.max(0, Math.min(MOST_PORTS, end - start + 1)) }, (_, index) => ({ port: start + index, protocol })),
  );
}

function toPort(port: number, protocol = 'TCP'): GuestPort[] {
  const lower = protocol.toLowerCase();
  return lower === 'tcp' || lower === 'udp' ? [{ protocol: lower, port }] : [];
}
