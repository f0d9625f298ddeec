/** A connection for bytes to the door of another virt-handler: after its answer they go as they are, in TLS and in nothing else. */
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { UPGRADE_OF } from '../../api/handler/route.ts';
import { isObject } from '../../base/json.ts';
import type { TlsIdentity } from '../../base/node/https-fetch.ts';

export type BytesOptions = {
  readonly host: string;
  readonly port: number;
  /** With its query. */
  readonly path: string;
  /** What both sides have to show. */
  readonly identity: TlsIdentity;
};

const HANDSHAKE_MS = 10_000;
const MOST_WORDS = 4096;

/** Resolves when the other side stands ready for bytes; rejects when it refuses, or cannot be reached. */
export function connectBytes({ host, port, path, identity }: BytesOptions): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: UPGRADE_OF.bytes };
    const asking = request({ ...identity, minVersion: 'TLSv1.3', agent: false, host, port, path, headers });
    asking.setTimeout(HANDSHAKE_MS, () => asking.destroy(new Error(`no answer within ${HANDSHAKE_MS / 1000} s`)));
    asking.on('error', reject);
    asking.on('response', (response) => {
      void whyRefused(response).then((why) =>
        reject(new Error(`the other virt-handler refused it with ${response.statusCode}${why ?? ''}`)),
      );
    });
    asking.on('upgrade', (_, socket, head) => {
      const secured = socket as TLSSocket; // https asked
      secured.setTimeout(0).setNoDelay(true);
      if (head.length > 0) secured.unshift(head);
      resolve(secured);
    });
    asking.end();
  });
}

/** In its own words, if it says any. */
async function whyRefused(response: IncomingMessage): Promise<string | undefined> {
  let text = '';
  try {
    for await (const piece of response.setEncoding('utf8')) {
      text += piece;
      if (text.length > MOST_WORDS) break;
    }
    const status: unknown = JSON.parse(text);
    const message = isObject(status) ? status['message'] : undefined;
    return typeof message === 'string' ? `: ${message}` : undefined;
  } catch {
    return undefined;
  } finally {
    response.destroy();
  }
}
