/** pods/portforward: for each connection that the client accepts it opens two streams, one for bytes and one to be told what went wrong. */
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../../base/clock.ts';
import { messageOf } from '../../../base/errors.ts';
import { openSpdyConnection, type SpdyStream } from './spdy/connection.ts';

type Options = { readonly wire: Duplex; readonly podIP: string; readonly name: string; readonly clock: Clock };

const PORT = /^[1-9][0-9]{0,4}$/;

/** Resolves when the connection is over. */
export async function forwardPorts({ wire, podIP, name, clock }: Options): Promise<void> {
  const errors = new Map<string, SpdyStream>();
  const onStream = (stream: SpdyStream) => {
    const { headers } = stream;
    const id = headers.get('requestid') ?? '';
    if (headers.get('streamtype') === 'error') {
      errors.set(id, stream);
      stream.once('close', () => errors.delete(id));
      stream.resume();
      return;
    }
    const error = errors.get(id); // clients open it first
    if (headers.get('streamtype') === 'data' && error) forward(stream, error, { podIP, name });
    else stream.destroy();
  };
  const { gone } = openSpdyConnection({ wire, onStream, clock });
  if (!gone.aborted) await new Promise((resolve) => gone.addEventListener('abort', resolve, { once: true }));
}

function forward(data: SpdyStream, error: SpdyStream, { podIP, name }: { readonly podIP: string; readonly name: string }): void {
  const port = data.headers.get('port') ?? '';
  const fail = (why: string) => {
    error.end(`error forwarding port ${port} to pod ${name}: ${why}`);
    data.destroy();
  };
  if (!PORT.test(port) || Number(port) > 65_535) return void fail('invalid port');
  const socket = connect({ host: podIP, port: Number(port), allowHalfOpen: true });
  socket.once('error', (cause) => fail(messageOf(cause)));
  // The one in the Pod has said all: a client closes its own side only after it has heard that nothing went wrong.
  data.once('finish', () => {
    error.end();
    socket.destroy();
  });
  data.once('close', () => {
    error.end();
    socket.destroy();
  });
  data.pipe(socket);
  socket.pipe(data);
}
