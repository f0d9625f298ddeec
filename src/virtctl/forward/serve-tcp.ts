/** A port of this machine whose connections are carried somewhere else. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { UserError } from '../../base/errors.ts';

export type ServeOptions = {
  readonly address: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Opens the other end of a connection. */
  readonly open: () => Promise<Duplex>;
  readonly onRefused: (error: unknown) => void;
  /** Closes the port and its connections. */
  readonly signal: AbortSignal;
};

/** Resolves when it listens. A connection that the other end does not take is reset; the others go on. */
export async function serveTcp({
  address,
  port,
  open,
  onRefused,
  signal,
}: ServeOptions): Promise<{ port: number; closed: Promise<unknown> }> {
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket: Socket) => {
    const end = () => socket.destroy();
    signal.addEventListener('abort', end, { once: true });
    socket.on('error', end).on('close', () => signal.removeEventListener('abort', end));
    open().then(
      (stream) => join(socket, stream),
      (error: unknown) => {
        onRefused(error);
        socket.resetAndDestroy();
      },
    );
  });
  server.listen({ port, host: address, signal });
  await once(server, 'listening').catch((error: unknown) => {
    throw explained(error, `${address}:${port}`);
  });
  const bound = server.address();
  return { port: typeof bound === 'object' && bound ? bound.port : port, closed: once(server, 'close') };
}

/** Node's own words say neither who is in the way nor what to do about it. */
export function explained(error: unknown, at: string): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const fix = 'choose another local port, such as 8080:80, or 0:80 for a free one';
  if (code === 'EADDRINUSE')
    return new UserError('PORT_IN_USE', `cannot listen on ${at}`, { why: 'another program listens there', fix, exitCode: 4, cause: error });
  if (code === 'EACCES')
    return new UserError('PORT_FORBIDDEN', `cannot listen on ${at}`, {
      why: 'ports below 1024 are for root',
      fix,
      exitCode: 6,
      cause: error,
    });
  return error;
}

/** Until the guest closes, or the client is gone; that the client has said all is not passed on, because the answer may still come. */
function join(socket: Socket, stream: Duplex): void {
  stream.on('error', () => socket.destroy());
  socket.on('close', () => stream.destroy());
  socket.pipe(stream, { end: false });
  stream.pipe(socket);
}
