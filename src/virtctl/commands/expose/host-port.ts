/** A port of this machine for a Service of the embedded cluster: whether it can be had, and where the Service is once it is served. */
import { createServer } from 'node:net';
import { SERVICES, type ServicePort } from '../../../api/core/service.ts';
import { ANNOTATION_HOST_PORT } from '../../../api/kubevirt/names.ts';
import { UserError } from '../../../base/errors.ts';
import { hostAddressesOf } from '../../../sdk/host-addresses.ts';
import type { ClusterDeps } from '../../deps.ts';
import { LAST_PORT } from '../../embedded/claim-port.ts';
import { runningState } from '../../embedded/state.ts';
import { isOwnEmbedded } from '../../images/own-cluster.ts';

const LOOPBACK = '127.0.0.1';
const PATIENCE_MS = 15_000;
const LOOK_MS = 100;
const FIRST_FREE = 1024;

/** Refuses a port that cannot be had, before anything is made. */
export async function mustBeFree(deps: ClusterDeps, port: number, ports: readonly ServicePort[]): Promise<void> {
  if (!Number.isInteger(port) || port < 1 || port > LAST_PORT)
    throw usage(`--host-port ${port} is an invalid port`, `say a number from 1 to ${LAST_PORT}`);
  if (ports.length !== 1) throw usage(`--host-port leads to one port, the Service would have ${ports.length}`, 'say which one: --port 80');
  if (!(await isOwnEmbedded(deps, deps)))
    throw usage('--host-port is for the embedded cluster of this machine', 'on a cluster: --type NodePort, or virtctl port-forward');
  if (runningState(deps.home)?.network === 'host')
    throw usage('--host-port needs a network of the cluster’s own', 'virtctl down, then virtctl up without --host-network');
  const code = await whyTaken(port, ports[0]?.protocol ?? 'TCP');
  if (code === undefined) return;
  throw new UserError('HOST_PORT_TAKEN', `${LOOPBACK}:${port} cannot be used`, {
    why: await reason(deps, port, code),
    fix: `choose another one: --host-port ${port < FIRST_FREE ? port + 8000 : Math.min(port + 1, LAST_PORT)}`,
    exitCode: 4,
  });
}

/** Waits until the host leads there, which is a moment, and says the address. */
export async function sayWhere({ client, namespace, clock, stdout, stderr }: ClusterDeps, name: string, port: number): Promise<void> {
  for (const deadline = clock.steady() + PATIENCE_MS; ; await clock.sleep(LOOK_MS)) {
    const service = await client.get(SERVICES, { namespace, name });
    const [address] = service ? hostAddressesOf(service) : [];
    if (address?.split('/udp')[0]?.endsWith(`:${port}`)) return void stdout.write(`${address}\n`);
    if (address) return void stderr.write(`virtctl: another program took port ${port} meanwhile; it is reached at ${address}\n`);
    if (clock.steady() > deadline) return void stderr.write('virtctl: it is not served yet; virtctl ls shows its address once it is\n');
  }
}

/** Asked by taking it for a moment. Only TCP: UDP has no listeners that somebody could meet by mistake. */
function whyTaken(port: number, protocol: string): Promise<string | undefined> {
  if (protocol !== 'TCP') return Promise.resolve(undefined);
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', ({ code = 'EADDRINUSE' }: NodeJS.ErrnoException) => resolve(code));
    server.listen(port, LOOPBACK, () => server.close(() => resolve(undefined)));
  });
}

async function reason({ client }: ClusterDeps, port: number, code: string): Promise<string> {
  if (code === 'EACCES') return `ports below ${FIRST_FREE} are for root on this machine`;
  const { items } = await client.list(SERVICES);
  const own = items.find(({ metadata }) => metadata.annotations?.[ANNOTATION_HOST_PORT] === String(port));
  return own ? `the Service ${own.metadata.namespace}/${own.metadata.name} has it` : 'another program listens there';
}

function usage(what: string, fix: string): UserError {
  return new UserError('USAGE', what, { fix, exitCode: 2 });
}
