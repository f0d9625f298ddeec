/** Makes ports of a guest reachable on this machine, or (with --stdio) one port on standard input and output, as ssh wants it. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { portForwardPath } from '../../../api/kubevirt/subresource-path.ts';
import { isApiError, messageOf, UserError } from '../../../base/errors.ts';
import type { ClusterDeps, Connection, ConnectionFlags } from '../../deps.ts';
import { findGuest, findRunningGuest } from '../../find-guest.ts';
import { type ForwardedPort, type ForwardTarget, parsePort, parseTarget } from '../../forward/parse.ts';
import { explained, serveTcp } from '../../forward/serve-tcp.ts';

type PortForwardFlags = ConnectionFlags & { readonly stdio: boolean; readonly address: string };
const QUIET_MS = 2_000;

type Open = (port: ForwardedPort) => Promise<Duplex>;

export async function run(deps: ClusterDeps, flags: PortForwardFlags, target: string, ...ports: string[]): Promise<void> {
  const to = parseTarget(target);
  const wanted = ports.map(parsePort);
  const open: Open = (port) => openPort(deps, to, port);
  if (flags.stdio) return carryStdio(deps, { to, open }, wanted);
  const say = (line: string) => void deps.stderr.write(`${line}\n`);
  await sayWhetherItRuns(deps, to, say);
  await Promise.all(
    wanted.map((port) =>
      (port.protocol === 'tcp' ? listenTcp : listenUdp)({ port, address: flags.address, signal: deps.signal, open, say }),
    ),
  );
}

/** It may run later, so the ports are served all the same; a machine that is not there at all is an error. */
async function sayWhetherItRuns(deps: ClusterDeps, to: ForwardTarget, say: (line: string) => void): Promise<void> {
  const { vm, vmi } = await findGuest(deps, to);
  if ((!vm && !vmi) || vmi?.status?.phase === 'Running') return; // who may only forward finds out with the first connection
  const state = vm?.status?.printableStatus ?? vmi?.status?.phase ?? 'Stopped';
  const { name } = to;
  say(`${name} is not running (${state}): connections fail until it does; virtctl start ${name} starts it, virtctl why ${name} says more`);
}

function openPort({ openStream, namespace }: Connection, to: ForwardTarget, { remote, protocol }: ForwardedPort): Promise<Duplex> {
  return openStream(portForwardPath({ namespace, ...to }, remote, protocol));
}

type Carried = { readonly to: ForwardTarget; readonly open: Open };

async function carryStdio(deps: ClusterDeps, { to, open }: Carried, [port, ...more]: readonly ForwardedPort[]): Promise<void> {
  const { stdin, stdout, clock } = deps;
  if (!port || more.length > 0 || port.protocol !== 'tcp') {
    throw new UserError('USAGE', '--stdio carries exactly one TCP port', { fix: 'virtctl port-forward --stdio vm/my-vm 22', exitCode: 2 });
  }
  const stream = await open(port).catch(async (error: unknown) => {
    await findRunningGuest(deps, to);
    throw nothingListens(error, port);
  });
  let isQuiet = true;
  stream.on('data', () => {
    isQuiet = false;
  });
  // A WebSocket has no half that could be closed: the answer to the last thing said is waited for.
  const endWhenQuiet = async () => {
    do {
      isQuiet = true;
      await clock.sleep(QUIET_MS);
    } while (!isQuiet);
    stream.end();
  };
  stdin.once('end', () => void endWhenQuiet());
  stdin.pipe(stream, { end: false });
  await pipeline(stream, stdout, { end: false }).catch((error: unknown) => {
    if (!isEarlyEnd(error)) throw error;
  });
  stdin.destroy(); // the guest has closed: nothing more is read
}

/** The one refusal that people can do something about. */
function nothingListens(error: unknown, { remote }: ForwardedPort): unknown {
  if (!isApiError(error, 'InternalError') || !/refused the connection/.test(error.message)) return error;
  return new UserError('GUEST_REFUSED', error.message, {
    why: `nothing listens at port ${remote} in the guest, or it has not come that far yet`,
    fix: 'wait until it has booted, or use virtctl console or virtctl exec, which need no server in the guest',
    exitCode: 4,
    cause: error,
  });
}

type ListenOptions = {
  readonly port: ForwardedPort;
  readonly address: string;
  readonly open: Open;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
};

/** Serves until the process ends. A connection that the guest does not take is closed, and said why; the others go on. */
async function listenTcp({ port, address, open, say, signal }: ListenOptions): Promise<void> {
  const served = await serveTcp({
    address,
    port: port.local,
    signal,
    open: () => open(port),
    onRefused: (error) => say(`cannot forward a connection to port ${port.remote}: ${messageOf(error)}`),
  });
  say(`forwarding tcp ${address}:${served.port} to ${port.remote}`);
  await served.closed;
}

/** Each sender has a connection of its own, so that answers find their way back. */
async function listenUdp({ port, address, open, say, signal }: ListenOptions): Promise<void> {
  const socket = createSocket({ type: address.includes(':') ? 'udp6' : 'udp4', signal });
  const streams = new Map<string, Promise<Duplex>>();
  const connectFor = async ({ address: from, port: fromPort }: RemoteInfo, key: string): Promise<Duplex> => {
    const stream = await open(port);
    stream.on('data', (datagram: Buffer) => socket.send(datagram, fromPort, from));
    stream.on('error', () => {}).on('close', () => streams.delete(key));
    return stream;
  };
  socket.on('message', (datagram, from) => {
    const key = `${from.address} ${from.port}`;
    const stream = streams.get(key) ?? connectFor(from, key);
    streams.set(key, stream);
    stream.then(
      (open) => open.write(datagram),
      (error: unknown) => {
        streams.delete(key);
        say(`cannot forward a datagram to port ${port.remote}: ${messageOf(error)}`);
      },
    );
  });
  socket.bind(port.local, address);
  await once(socket, 'listening').catch((error: unknown) => {
    throw explained(error, `${address}:${port.local}`);
  });
  say(`forwarding udp ${address}:${socket.address().port} to ${port.remote}`);
  await once(socket, 'close');
}

/** One side hung up while the other still had something to say: nothing to tell a user about. */
function isEarlyEnd(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE';
}
