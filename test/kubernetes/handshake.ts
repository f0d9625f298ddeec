/** How a connection that wants to leave HTTP is answered: refused with a Status, or with the protocol that was agreed on. */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Cluster } from '../../src/client/node/kubeconfig.ts';
import { tlsOf } from '../../src/client/node/tls-fetch.ts';

export type Handshake = { readonly method: string; readonly path: string; readonly headers: Readonly<Record<string, string>> };
export type HandshakeAnswer = { readonly code: number; readonly protocol?: string; readonly body?: unknown };

const PATIENCE_MS = 10_000;

export const byWebSocket = (protocols: string): Readonly<Record<string, string>> => ({
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': Buffer.from('of sixteen bytes').toString('base64'),
  'sec-websocket-protocol': protocols,
});
export const bySpdy = (protocols: string): Readonly<Record<string, string>> => ({
  connection: 'Upgrade',
  upgrade: 'SPDY/3.1',
  'x-stream-protocol-version': protocols,
});

/** Ends the connection as soon as it has been answered. */
export function shakeHands(cluster: Cluster, { method, path, headers }: Handshake): Promise<HandshakeAnswer> {
  return new Promise((resolve, reject) => {
    const asked = request(new URL(path, cluster.server), { method, headers, ...tlsOf(cluster), timeout: PATIENCE_MS });
    asked.once('upgrade', (answer, socket) => {
      socket.destroy();
      resolve({ code: answer.statusCode ?? 0, protocol: protocolOf(answer) });
    });
    asked.once('response', async (answer) => {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of answer) chunks.push(chunk);
        resolve({ code: answer.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString('utf8')) });
      } catch (error) {
        reject(error);
      }
    });
    asked.once('timeout', () => asked.destroy(new Error(`no answer to ${method} ${path}`)));
    asked.once('error', reject);
    asked.end();
  });
}

function protocolOf({ headers }: IncomingMessage): string {
  const agreed = headers['sec-websocket-protocol'] ?? headers['x-stream-protocol-version'];
  return `${headers.upgrade?.toLowerCase()} ${agreed}`;
}
