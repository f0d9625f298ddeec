/**
 * How the processors of an instance type are arranged, by the preference:
 *
 *   sockets, any (and when nothing is said)   all are sockets
 *   cores                                     all are cores of one socket
 *   threads                                   all are threads of one core
 *   spread   SocketsCores                     each socket has as many cores as the ratio says (2)
 *            CoresThreads                     one socket, two threads to a core
 *            SocketsCoresThreads              sockets of `ratio` cores of two threads
 *
 * Pure.
 */
import type { PreferenceSpec } from './preference-schema.ts';

export type Topology = { readonly sockets: number; readonly cores: number; readonly threads: number };

const THREADS = 2;
const DEFAULT_RATIO = 2;

/** The topology, or why that many processors cannot be arranged so. */
export function topologyOf(vcpus: number, preference: PreferenceSpec | undefined): Topology | { readonly why: string } {
  const said = preference?.cpu?.preferredCPUTopology ?? 'sockets';
  switch (said.replace(/^prefer/, '').toLowerCase()) {
    case 'cores':
      return { sockets: 1, cores: vcpus, threads: 1 };
    case 'threads':
      return { sockets: 1, cores: 1, threads: vcpus };
    case 'spread':
      return spread(vcpus, preference);
    default:
      return { sockets: vcpus, cores: 1, threads: 1 };
  }
}

function spread(vcpus: number, preference: PreferenceSpec | undefined): Topology | { readonly why: string } {
  const { across = 'SocketsCores', ratio = preference?.preferSpreadSocketToCoreRatio ?? DEFAULT_RATIO } =
    preference?.cpu?.spreadOptions ?? {};
  if (vcpus === 1) return { sockets: 1, cores: 1, threads: 1 };
  const [cores, threads] = across === 'CoresThreads' ? [vcpus / THREADS, THREADS] : [ratio, across === 'SocketsCores' ? 1 : THREADS];
  const sockets = vcpus / cores / threads;
  if (Number.isInteger(sockets) && Number.isInteger(cores)) return { sockets, cores, threads };
  return { why: `${vcpus} vCPUs provided by the instance type cannot be spread across ${across} with a ratio of 1:${ratio}` };
}
