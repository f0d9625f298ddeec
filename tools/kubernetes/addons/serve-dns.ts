/** The sockets of the name server. */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { answer, type Lookup } from './dns-message.ts';

const IDLE_MS = 10_000;

/** Listens on UDP and TCP; resolves when both do. */
export async function serveDns({ address, port, lookup }: { address: string; port: number; lookup: Lookup }): Promise<void> {
  const datagrams = createSocket('udp4');
  datagrams.on('message', (message, { address: client, port: clientPort }) => {
    const given = answer(message, lookup, 'udp');
    if (given) datagrams.send(given, clientPort, client);
  });
  datagrams.bind(port, address);
  const streams = createServer((socket) => serveStream(socket, lookup)).listen(port, address);
  await Promise.all([once(datagrams, 'listening'), once(streams, 'listening')]);
}

/** Each message has its length in front. */
function serveStream(socket: Socket, lookup: Lookup): void {
  let pending: Buffer = Buffer.alloc(0);
  socket.setTimeout(IDLE_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy()); // the client has gone
  socket.on('data', (chunk) => {
    pending = Buffer.concat([pending, chunk]);
    while (pending.length >= 2 && pending.length >= 2 + pending.readUInt16BE(0)) {
      const end = 2 + pending.readUInt16BE(0);
      const given = answer(pending.subarray(2, end), lookup, 'tcp');
      pending = pending.subarray(end);
      if (!given) return void socket.destroy();
      const length = Buffer.alloc(2);
      length.writeUInt16BE(given.length);
      socket.write(Buffer.concat([length, given]));
    }
  });
}
