/** The side of the host: listens at its loopback for what the cluster wants, and carries each connection to the cluster. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { framesOf, sendFrame } from '../datagram-frames.ts';
import { HOST_ADDRESS, type HostPort, messagesOf, send, type ToHost } from './messages.ts';

type Open = { close(): void };
type Entering = { readonly path: string; readonly key: string };

/** UDP clients at once for each port. */
const MAX_UDP_CLIENTS = 256;
const UDP_IDLE_MS = 60_000;

/** Runs until the cluster is gone; nothing is listened at after that. */
export async function runHostPorts(path: string): Promise<void> {
  const control = connect(path);
  await once(control, 'connect');
  send(control, { control: true });
  const open = new Map<string, Open & { readonly chosen: number | undefined }>();
  messagesOf<ToHost>(control, ({ listen }) => {
    const wanted = new Map(listen.map((port) => [port.key, port]));
    for (const [key, { close, chosen }] of open) {
      const still = wanted.get(key);
      if (still && still.chosen === chosen) continue;
      close();
      open.delete(key);
    }
    for (const [key, port] of wanted) if (!open.has(key)) open.set(key, { ...opening({ path, control, port }), chosen: port.chosen });
  });
  control.on('error', () => control.destroy());
  await once(control, 'close');
  for (const { close } of open.values()) close();
}

type Opening = { readonly path: string; readonly control: Socket; readonly port: HostPort };

function opening({ path, control, port: { key, protocol, ports } }: Opening): Open {
  const listen = protocol === 'TCP' ? listenTcp : listenUdp;
  let current: Open | undefined;
  let isClosed = false;
  void (async () => {
    let why = 'no port is wanted';
    for (const port of ports) {
      const result = await listen(port, { path, key }).catch((error: Error) => error);
      if (result instanceof Error) {
        why = (result as NodeJS.ErrnoException).code ?? result.message;
        continue;
      }
      if (isClosed) return result.close();
      current = result;
      return send(control, { state: { key, port } });
    }
    send(control, { state: { key, why } });
  })();
  return {
    close: () => {
      isClosed = true;
      current?.close();
    },
  };
}

async function listenTcp(port: number, entering: Entering): Promise<Open> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    const inside = connect({ path: entering.path, allowHalfOpen: true });
    sockets.add(client);
    client.once('close', () => sockets.delete(client));
    send(inside, { key: entering.key, client: client.remoteAddress ?? '' });
    for (const [one, other] of [
      [client, inside],
      [inside, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.once('close', () => other.destroySoon());
    }
    client.pipe(inside);
    inside.pipe(client);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, HOST_ADDRESS, resolve));
  return {
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Each client has a connection of its own into the cluster. */
async function listenUdp(port: number, entering: Entering): Promise<Open> {
  const server: UdpSocket = createSocket('udp4');
  const clients = new Map<string, Socket>();
  server.on('message', (datagram, { address, port: from }) => {
    const client = `${address}:${from}`;
    let inside = clients.get(client);
    if (!inside) {
      if (clients.size >= MAX_UDP_CLIENTS) return;
      inside = connect(entering.path);
      clients.set(client, inside);
      send(inside, { key: entering.key, client });
      const end = () => inside?.destroy();
      inside.setTimeout(UDP_IDLE_MS, end).on('error', end);
      inside.once('close', () => clients.delete(client));
      framesOf(inside, (answer) => server.send(answer, from, address, () => {}));
    }
    sendFrame(inside, datagram);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).bind(port, HOST_ADDRESS, () => resolve()));
  return {
    close: () => {
      server.close();
      for (const inside of clients.values()) inside.destroy();
    },
  };
}
