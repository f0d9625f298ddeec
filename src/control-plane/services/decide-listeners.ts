/** Where the proxy has to listen, and whom it may pass a connection on to. Pure. */
import type { EndpointSlice } from '../../api/core/endpoint-slice.ts';
import type { Service } from '../../api/core/service.ts';

export type Target = { readonly host: string; readonly port: number };
export type Listener = { readonly host: string; readonly port: number; readonly targets: readonly Target[] };
export type ListenerOptions = {
  /** Addresses of Services are local here. */
  readonly hasClusterAddresses: boolean;
  /** Where NodePorts are served. */
  readonly nodeAddress: string;
};

/** The listeners of one Service: its address with each port, and its NodePorts. Only TCP is carried. */
export function decideListeners(service: Service, slices: readonly EndpointSlice[], options: ListenerOptions): Listener[] {
  const { clusterIP = '', ports = [], type } = service.spec;
  const hasAddress = /^\d+\.\d+\.\d+\.\d+$/.test(clusterIP) && type !== 'ExternalName';
  if (!hasAddress) return [];
  return ports
    .filter(({ protocol = 'TCP' }) => protocol === 'TCP')
    .flatMap(({ name = '', port, nodePort }) => {
      const targets = targetsOf(slices, name);
      return [
        ...(options.hasClusterAddresses ? [{ host: clusterIP, port, targets }] : []),
        ...(nodePort ? [{ host: options.nodeAddress, port: nodePort, targets }] : []),
      ];
    });
}

/** Those that are ready; when there is none, those that still serve while they end. */
function targetsOf(slices: readonly EndpointSlice[], portName: string): Target[] {
  const fitting = (isWanted: (endpoint: EndpointSlice['endpoints'][number]) => boolean) =>
    slices.flatMap(({ ports = [], endpoints }) => {
      const port = ports.find(({ name = '', protocol = 'TCP' }) => name === portName && protocol === 'TCP')?.port;
      return port === undefined
        ? []
        : endpoints.filter(isWanted).flatMap(({ addresses }) => addresses.slice(0, 1).map((host) => ({ host, port })));
    });
  const ready = fitting(({ conditions }) => conditions?.ready !== false);
  return ready.length > 0 ? ready : fitting(({ conditions }) => conditions?.serving === true && conditions.terminating === true);
}
