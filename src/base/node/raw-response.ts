/** An HTTP/1.1 answer written straight to a socket: what is left after a client asked for an upgrade and does not get it. */
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { isHopByHop } from './web-bridge.ts';

/** Sends the answer and closes the connection. */
export async function refuseUpgrade(socket: Duplex, response: Response): Promise<void> {
  const body = Buffer.from(await response.arrayBuffer());
  if (socket.destroyed) return;
  const lines = [`HTTP/1.1 ${response.status} ${STATUS_CODES[response.status] ?? 'Unknown'}`];
  response.headers.forEach((value, name) => {
    if (!isHopByHop(name) && name !== 'content-length') lines.push(`${name}: ${value}`);
  });
  lines.push(`content-length: ${body.length}`, 'connection: close', '', '');
  socket.end(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), body]), () => socket.destroy());
}
