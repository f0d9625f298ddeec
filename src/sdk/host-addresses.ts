/** Where this machine reaches the Services of a guest: addresses that a terminal or a browser opens. Pure. */
import type { Service } from '../api/core/service.ts';
import { ANNOTATION_HOST_ADDRESSES, LABEL_VMI_ID } from '../api/kubevirt/names.ts';
import { keyOf } from '../api/meta.ts';

const WEB: Readonly<Record<number, string>> = { 80: 'http', 3000: 'http', 8000: 'http', 8080: 'http', 443: 'https', 8443: 'https' };
/** As the annotation has them: `80:30080/TCP=127.0.0.1:8080`. */
const ADDRESS = /^(?<port>\d{1,5}):\d{1,5}\/(?<protocol>TCP|UDP)=(?<address>127\.0\.0\.1:\d{1,5})$/;
const MOST_LETTERS = 4096;

/** `port` is that of the Service. */
export type HostAddress = { readonly port: number; readonly protocol: 'TCP' | 'UDP'; readonly address: string; readonly scheme?: string };

/** Those of a Service, in the order of its ports. What is no address is left out: whoever may write the Service may write anything there. */
export function hostPortsOf({ metadata, spec }: Service): HostAddress[] {
  const said = metadata.annotations?.[ANNOTATION_HOST_ADDRESSES]?.slice(0, MOST_LETTERS).split(',') ?? [];
  return said.flatMap((each): HostAddress[] => {
    const { port: digits, protocol, address } = ADDRESS.exec(each)?.groups ?? {};
    if (!digits || !address) return [];
    const port = Number(digits);
    if (protocol === 'UDP') return [{ port, protocol, address }];
    const own = spec.ports?.find((one) => one.port === port && (one.protocol ?? 'TCP') === protocol);
    const scheme = WEB[Number(own?.targetPort ?? port)] ?? WEB[port];
    return [{ port, protocol: 'TCP', address, ...(scheme !== undefined && { scheme }) }];
  });
}

/** The same as text. */
export function hostAddressesOf(service: Service): string[] {
  return hostPortsOf(service).map(({ protocol, address, scheme }) =>
    protocol === 'UDP' ? `${address}/udp` : scheme ? `${scheme}://${address}` : address,
  );
}

/** Those of all Services that select one machine, by its namespace and name. */
export function hostAddressesByMachine(services: readonly Service[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const service of services) {
    const machine = service.spec.selector?.[LABEL_VMI_ID];
    const addresses = hostAddressesOf(service);
    if (machine === undefined || addresses.length === 0) continue;
    const key = keyOf({ namespace: service.metadata.namespace, name: machine });
    found.set(key, [...(found.get(key) ?? []), ...addresses]);
  }
  return found;
}
