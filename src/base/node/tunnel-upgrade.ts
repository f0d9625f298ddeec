/** Passes an upgrade request (WebSocket, SPDY) on to another server and then bytes both ways, without looking into them. */
import { request as httpsRequest } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { TlsIdentity } from './https-fetch.ts';
import { refuseUpgrade } from './raw-response.ts';
import { isHopByHop, webHeaders } from './web-bridge.ts';

export type TunnelOptions = TlsIdentity & {
  readonly socket: Duplex;
  /** What the client sent after its headers. */
  readonly head: Buffer;
  readonly host: string;
  readonly port: number;
  readonly method: string;
  readonly path: string;
  /** Without Connection and Upgrade. */
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** What the client wants to speak: the value of its Upgrade header. */
  readonly protocol: string;
  readonly handshakeTimeoutMs: number;
};

/** Resolves when the tunnel stands or the other server has refused it (the client is told); rejects when that server cannot be reached. */
export function tunnelUpgrade(options: TunnelOptions): Promise<void> {
  const { socket, head, host, port, method, path, protocol, handshakeTimeoutMs, headers, ...tls } = options;
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({
      ...tls,
      agent: false,
      host,
      port,
      method,
      path,
      headers: { ...(headers as Record<string, string | string[]>), connection: 'Upgrade', upgrade: protocol },
    });
    const clientLeft = () => outgoing.destroy(new Error('the client left'));
    socket.once('close', clientLeft);
    outgoing.setTimeout(handshakeTimeoutMs, () => outgoing.destroy(new Error(`no answer within ${handshakeTimeoutMs / 1000} s`)));
    outgoing.on('error', (error) => {
      socket.off('close', clientLeft);
      reject(error);
    });
    outgoing.on('response', (incoming) => {
      socket.off('close', clientLeft);
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const init = { status: incoming.statusCode ?? 502, headers: webHeaders(incoming.rawHeaders) };
        resolve(refuseUpgrade(socket, new Response(Buffer.concat(chunks), init)));
      });
    });
    outgoing.on('upgrade', (incoming, backend, backendHead) => {
      socket.off('close', clientLeft);
      (backend as TLSSocket).setTimeout(0);
      socket.write(Buffer.concat([switching(protocol, incoming.rawHeaders), backendHead]));
      if (head.length > 0) backend.write(head);
      join(socket, backend);
      resolve();
    });
    outgoing.end();
  });
}

function switching(protocol: string, rawHeaders: readonly string[]): Buffer {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', `Upgrade: ${protocol}`];
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (!isHopByHop(rawHeaders[i] ?? '')) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Bytes both ways; the end of one side ends the other, a broken side breaks the other. */
function join(a: Duplex, b: Duplex): void {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    // keystrokes are small and must not wait for company
    if ('setNoDelay' in from) (from as TLSSocket).setNoDelay(true);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}
