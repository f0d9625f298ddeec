/** A TCP port of a Service: accepts connections and passes each on to the first target that accepts it. */
import { connect, createServer, type Socket } from 'node:net';
import type { Target } from './decide-listeners.ts';
import type { OpenListener, OpenListenerOptions } from './open-listener.ts';
import type { TargetChoice } from './target-choice.ts';

const CONNECT_TIMEOUT_MS = 5_000;

/** Listens at once; `onError` is told when that cannot be done. */
export function openTcpListener({ host, port, choice, onError, onListening, enter }: OpenListenerOptions): OpenListener {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  function take(socket: Socket, client: string): void {
    const leave = enter?.();
    if (enter && !leave) {
      refuse(socket);
      return;
    }
    if (leave) socket.once('close', leave);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    passOn(socket, { targets: choice.inTurn(client), choice, client });
  }
  server.on('connection', (socket) => take(socket, socket.remoteAddress ?? ''));
  server.on('error', onError);
  server.on('listening', onListening);
  server.listen(port, host);
  return {
    take,
    close: () => server.close(),
    destroy: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

type Way = { readonly targets: readonly Target[]; readonly choice: TargetChoice; readonly client: string };

/** To the first target that accepts; a client of a Service without any is refused. */
function passOn(client: Socket, way: Way): void {
  const [target, ...others] = way.targets;
  if (!target) {
    refuse(client);
    return;
  }
  const upstream = connect({ ...target, allowHalfOpen: true, timeout: CONNECT_TIMEOUT_MS });
  const failed = () => {
    client.off('close', leave);
    upstream.destroy();
    passOn(client, { ...way, targets: others });
  };
  const leave = () => upstream.destroy();
  client.once('close', leave);
  upstream.once('timeout', failed).once('error', failed);
  upstream.once('connect', () => {
    way.choice.chose(way.client, target);
    upstream.off('timeout', failed).off('error', failed).setTimeout(0);
    upstream.on('error', () => refuse(client));
    // The network of a guest takes a connection before the guest does: one that ends before anything was said was refused.
    upstream.once('end', () => upstream.bytesRead + upstream.bytesWritten === 0 && refuse(client));
    client.pipe(upstream);
    upstream.pipe(client);
  });
}

/** Only a TCP socket can be reset. */
function refuse(client: Socket): void {
  if (client.remoteAddress === undefined) client.destroy();
  else client.resetAndDestroy();
}
