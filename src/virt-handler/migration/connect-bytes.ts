/** A connection for bytes to the door of another virt-handler: after its answer they go as they are, in TLS and in nothing else. */
import { request } from 'node:https';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { UPGRADE_OF } from '../../api/handler/route.ts';
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

/** Resolves when the other side stands ready for bytes; rejects when it refuses, or cannot be reached. */
export function connectBytes({ host, port, path, identity }: BytesOptions): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const headers = { connection: 'Upgrade', upgrade: UPGRADE_OF.bytes };
    const asking = request({ ...identity, minVersion: 'TLSv1.3', agent: false, host, port, path, headers });
    asking.setTimeout(HANDSHAKE_MS, () => asking.destroy(new Error(`no answer within ${HANDSHAKE_MS / 1000} s`)));
    asking.on('error', reject);
    asking.on('response', (response) => {
      response.destroy();
      reject(new Error(`the other virt-handler refused it with ${response.statusCode}`));
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
