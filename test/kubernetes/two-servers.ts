/** The same requests to a real kube-apiserver and to ours, and what is compared of the answers. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { isObject } from '../../src/base/json.ts';
import { silentLogger } from '../../src/base/log.ts';
import { ensurePki } from '../../src/base/node/pki.ts';
import type { KubeFetch } from '../../src/client/client.ts';
import { createTlsFetch } from '../../src/client/node/tls-fetch.ts';
import { createApiServer } from '../../src/control-plane/apiserver/create-api-server.ts';
import { listen } from '../../src/control-plane/apiserver/transport/listen.ts';
import { openStore } from '../../src/control-plane/store/store.ts';
import { RealApiServer } from '../../tools/kubernetes/api-server.ts';

export type Asked = {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
};
export type Answer = { readonly code: number; readonly body: unknown; readonly warnings: string | undefined };

/** Fields that differ between any two servers, or between two runs of one. */
/** And the account of Pods: without the controller manager the real one has none to give. */
const VOLATILE = [
  'serviceAccount',
  'serviceAccountName',
  'volumes',
  'volumeMounts',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'selfLink',
  'deletionTimestamp',
  'lastTransitionTime',
  'continue',
];

/** Every request here has an answer that ends. */
const PATIENCE_MS = 10_000;

export class TwoServers implements AsyncDisposable {
  readonly #real: RealApiServer;
  readonly #stopOurs: () => Promise<void>;
  readonly #fetches: Record<'real' | 'ours', { fetch: KubeFetch; server: string }>;

  private constructor(real: RealApiServer, ours: { fetch: KubeFetch; server: string; stop: () => Promise<void> }) {
    this.#real = real;
    this.#stopOurs = ours.stop;
    this.#fetches = { real: { fetch: createTlsFetch(real.cluster), server: real.cluster.server }, ours };
  }

  static async start(): Promise<TwoServers> {
    const ours = await startOurs();
    try {
      return new TwoServers(await RealApiServer.start(), ours);
    } catch (error) {
      await ours.stop();
      throw error;
    }
  }

  async ask(
    which: 'real' | 'ours',
    { method = 'GET', path, body, type = 'application/json', accept = 'application/json' }: Asked,
  ): Promise<Answer> {
    const { fetch, server } = this.#fetches[which];
    const headers = { accept, ...(body === undefined ? {} : { 'content-type': type }) };
    const content = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(
      new Request(new URL(path, server), { method, headers, body: content, signal: AbortSignal.timeout(PATIENCE_MS) }),
    );
    const text = await response.text();
    return { code: response.status, body: comparable(parsed(text)), warnings: response.headers.get('warning') ?? undefined };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stopOurs();
    await this.#real[Symbol.asyncDispose]();
  }
}

async function startOurs() {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-ours-'));
  const pki = await ensurePki(join(folder, 'pki'), systemClock);
  const store = openStore({ path: join(folder, 'store.db') });
  const api = await createApiServer({ store, clock: systemClock, log: silentLogger });
  const web = await listen({ handle: api.handle, upgrade: () => {}, pki, port: 0, log: silentLogger });
  const server = `https://127.0.0.1:${web.port}`;
  const stop = async () => {
    api.close();
    await web.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { fetch: createTlsFetch({ context: 'ours', server, ca: pki.ca, ...pki.admin }), server, stop };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Without what may differ; an empty map or list counts as absent, as it does for every client. */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !VOLATILE.includes(key));
  return Object.fromEntries(kept.map(([key, each]) => [key, comparable(each)] as const).filter(([, each]) => !isEmpty(each)));
}

function isEmpty(value: unknown): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
