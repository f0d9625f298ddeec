/** The same requests to a real kube-apiserver and to ours, and what is compared of the answers. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { isObject } from '../../src/base/json.ts';
import { silentLogger } from '../../src/base/log.ts';
import { ensurePki } from '../../src/base/node/pki.ts';
import type { KubeFetch } from '../../src/client/client.ts';
import type { Cluster } from '../../src/client/node/kubeconfig.ts';
import { createTlsFetch } from '../../src/client/node/tls-fetch.ts';
import { createAdmission } from '../../src/control-plane/apiserver/admission/create-admission.ts';
import { type ApiServer, createApiServer } from '../../src/control-plane/apiserver/create-api-server.ts';
import { type HandleUpgrade, listen } from '../../src/control-plane/apiserver/transport/listen.ts';
import {
  acceptChannels,
  acceptSpdyBytes,
  agreeOn,
  CHANNELS,
  PORT_FORWARD,
} from '../../src/control-plane/kubelet/streams/accept-upgrade.ts';
import { openStore } from '../../src/control-plane/store/store.ts';
import { RealApiServer } from '../../tools/kubernetes/api-server.ts';
import { type Handshake, type HandshakeAnswer, shakeHands } from './handshake.ts';

export type Asked = {
  readonly method?: string;
  readonly path: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly accept?: string;
};
export type Answer = { readonly code: number; readonly body: unknown; readonly warnings: string | undefined };
export type Which = 'real' | 'ours';

type Definition = {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
};

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
  'clusterIP',
  'clusterIPs',
];

/** Taken at random from 10.96.0.0/12. */
const SERVICE_ADDRESS = /^10\.(9[6-9]|10\d|11[01])\.\d+\.\d+$/;

const AGE = /^(\d+[smhdy])+$/;

/** Items of our lists carry these; those of the real server only for custom kinds. */
const TYPE_IN_LISTS = ['kind', 'apiVersion'];

/** Every request here has an answer that ends. */
const PATIENCE_MS = 10_000;

export class TwoServers implements AsyncDisposable {
  readonly #real: RealApiServer;
  readonly #stopOurs: () => Promise<void>;
  readonly #doors: Record<Which, { fetch: KubeFetch; cluster: Cluster }>;

  private constructor(real: RealApiServer, ours: { cluster: Cluster; stop: () => Promise<void> }) {
    const doorOf = (cluster: Cluster) => ({ fetch: createTlsFetch(cluster), cluster });
    this.#real = real;
    this.#stopOurs = ours.stop;
    this.#doors = { real: doorOf(real.cluster), ours: doorOf(ours.cluster) };
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
    which: Which,
    { method = 'GET', path, body, type = 'application/json', accept = 'application/json' }: Asked,
  ): Promise<Answer & { readonly raw: unknown }> {
    const { fetch, cluster } = this.#doors[which];
    const headers = { accept, ...(body === undefined ? {} : { 'content-type': type }) };
    const isContent = typeof body === 'string' || body instanceof Uint8Array || body === undefined;
    const content = isContent ? (body as string | undefined) : JSON.stringify(body);
    const response = await fetch(
      new Request(new URL(path, cluster.server), { method, headers, body: content, signal: AbortSignal.timeout(PATIENCE_MS) }),
    );
    const raw = parsed(await response.text());
    return { code: response.status, body: comparable(raw), warnings: response.headers.get('warning') ?? undefined, raw };
  }

  /** Asks to leave HTTP, for a stream of a Pod. */
  async shake(which: Which, handshake: Handshake): Promise<HandshakeAnswer> {
    const { body, ...answer } = await shakeHands(this.#doors[which].cluster, handshake);
    return body === undefined ? answer : { ...answer, body: comparable(body) };
  }

  /** Creates the definitions in a folder of manifests on both. */
  async install(folder: string): Promise<void> {
    for (const file of readdirSync(folder)) {
      const body = readFileSync(join(folder, file), 'utf8');
      const asked = { method: 'POST', path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', body, type: 'application/yaml' };
      for (const which of ['real', 'ours'] as const) {
        const { code, raw } = await this.ask(which, asked);
        if (code !== 201) throw new Error(`${file}: ${JSON.stringify(raw)}`);
      }
    }
    await this.definitionsAreServed();
  }

  /** A definition of the real server can be used a moment after it was created. */
  async definitionsAreServed(): Promise<void> {
    const definitions = await this.ask('real', { path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions' });
    const { items = [] } = definitions.raw as { items?: Definition[] };
    for (const { spec } of items) {
      const path = `/apis/${spec.group}/${spec.versions.find(({ served }) => served)?.name}/${spec.names.plural}`;
      for (let tries = 0; tries < 200 && (await this.ask('real', { path })).code !== 200; tries++) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
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
  const admission = createAdmission({ store, resolveService: async () => undefined, exemptUsers: ['system:apiserver'], log: silentLogger });
  const api = await createApiServer({ store, clock: systemClock, log: silentLogger, hooks: { admission } });
  const web = await listen({ handle: api.handle, upgrade: upgradeOf(api), pki, port: 0, log: silentLogger });
  const cluster = { context: 'ours', server: `https://127.0.0.1:${web.port}`, ca: pki.ca, ...pki.admin };
  const stop = async () => {
    api.close();
    admission.close();
    await web.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { cluster, stop };
}

/** No node stands behind it: what a node agrees on with a client is agreed on, and there it ends. */
function upgradeOf(api: ApiServer): HandleUpgrade {
  return (request, socket, head, identity) => {
    const upgrade = { request, socket, head };
    const wanted = { stdin: false, stdout: false, stderr: false, tty: false };
    return api.upgrade(
      { request, identity, socket },
      {
        toService: async () => {},
        async toPod(_, { subresource }) {
          if (subresource === 'portforward') await acceptSpdyBytes(upgrade, agreeOn(upgrade, PORT_FORWARD), systemClock);
          else await acceptChannels(upgrade, agreeOn(upgrade, CHANNELS), { wanted, clock: systemClock });
        },
      },
    );
  };
}

/** JSON, the events of a watch, or text. */
function parsed(text: string): unknown {
  for (const read of [
    () => JSON.parse(text),
    () =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
  ]) {
    try {
      return read();
    } catch {
      // the next form
    }
  }
  return text;
}

/** Without what may differ; an empty map or list counts as absent, as it does for every client. */
function comparable(value: unknown, isItem = false): unknown {
  if (Array.isArray(value)) return value.map((each) => comparable(each, isItem));
  if (typeof value === 'string' && SERVICE_ADDRESS.test(value)) return 'an address of a Service';
  if (!isObject(value)) return value;
  const ignored = [...VOLATILE, ...TYPE_IN_LISTS.filter(() => isItem), ...(isColumn(value) ? ['description'] : [])];
  const kept = Object.entries(value).filter(([key]) => !ignored.includes(key));
  const compared = (key: string, each: unknown) => (key === 'cells' ? withoutAges(each) : comparable(each, key === 'items'));
  return Object.fromEntries(kept.map(([key, each]) => [key, compared(key, each)] as const).filter(([, each]) => !isEmpty(each)));
}

/** Cells of a printed table: between two servers a second may pass. */
function withoutAges(cells: unknown): unknown {
  return Array.isArray(cells) ? cells.map((cell) => (AGE.test(String(cell)) ? 'an age' : comparable(cell))) : cells;
}

/** Of a printed table; what it says about its columns is prose. */
function isColumn(value: object): boolean {
  return 'format' in value && 'priority' in value && 'name' in value;
}

function isEmpty(value: unknown): boolean {
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && Object.keys(value).length === 0;
}
