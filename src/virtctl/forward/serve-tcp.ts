/** A port of this machine whose connections are carried somewhere else. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

export type ServeOptions = {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Opens the other end of a connection. */
  readonly open: () => Promise<Duplex>;
  readonly onRefused: (error: unknown) => void;
};

/** Resolves when it listens. A connection that the other end does not take is closed; the others go on. */
export async function serveTcp({ address, port, open, onRefused }: ServeOptions): Promise<{ port: number; closed: Promise<unknown> }> {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket: Socket) => {
    socket.on('error', () => socket.destroy());
    open().then(
      (stream) => join(socket, stream),
      (error: unknown) => {
        onRefused(error);
        socket.destroy();
      },
    );
  });
  server.listen(port, address);
  await once(server, 'listening');
  const bound = server.address();
  return { port: typeof bound === 'object' && bound ? bound.port : port, closed: once(server, 'close') };
}

/** Until the guest closes, or the client is gone; that the client has said all is not passed on, because the answer may still come. */
function join(socket: Socket, stream: Duplex): void {
  stream.on('error', () => socket.destroy());
  socket.on('close', () => stream.destroy());
  socket.pipe(stream, { end: false });
  stream.pipe(socket);
}
