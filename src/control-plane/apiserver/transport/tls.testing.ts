/** Real certificates in a temporary folder, and a bare HTTPS request, for tests of everything that listens. */
import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../base/clock.ts';
import { ensurePki, type Pki } from '../../../base/node/pki.ts';

/** Certificates that are gone after `remove`. */
export async function temporaryPki(): Promise<{ pki: Pki; folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'tls-'));
  return { folder, pki: await ensurePki(folder, systemClock), remove: () => rm(folder, { recursive: true, force: true }) };
}

export type Answer = { readonly status: number; readonly headers: NodeJS.Dict<string | string[]>; readonly body: string };

/** One request over HTTP/1.1 on a connection of its own, answered in full. */
export function ask(options: RequestOptions & { body?: string }): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = httpsRequest({ host: '127.0.0.1', servername: 'localhost', agent: false, ...options }, (incoming) => {
      let body = '';
      incoming.setEncoding('utf8');
      incoming.on('data', (chunk) => {
        body += chunk;
      });
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, body }));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(options.body);
  });
}
