/** The web page for many, as its Pod starts it, in front of the real API server: everybody acts with his own token, and with nothing else. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { WebSocket } from 'ws';
import { parseAllDocuments } from 'yaml';
import { SERVICE_ACCOUNTS } from '../../src/api/core/service-account.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { silentLogger } from '../../src/base/log.ts';
import { newSigningKey } from '../../src/base/node/signing-key.ts';
import { apply, applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { bindRole } from '../../src/control-plane/apiserver/access/rights.testing.ts';
import { startTestServer, type TestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';
import { listen } from '../../src/control-plane/apiserver/transport/listen.ts';
import { type Answer, ask, temporaryPki } from '../../src/control-plane/apiserver/transport/tls.testing.ts';
import { tinySpec } from '../../src/testing/builders.ts';
import { buildUi } from '../../tools/ui/build.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const DEPLOY = join(PROJECT, 'deploy');
const MACHINES = '/apis/kubevirt.io/v1/namespaces';
const HOST = 'machines.example';

type Deployment = KubeObject & { spec: { template: { spec: { containers: { command: string[]; args?: string[] }[] } } } };

function manifests(): KubeObject[] {
  return parseAllDocuments(readFileSync(join(DEPLOY, 'virt-ui.yaml'), 'utf8')).map((document) => document.toJS() as KubeObject);
}

describe('the page for many', { timeout: 120_000 }, () => {
  const tokens = new Map<string, string>();
  let api: TestServer;
  let port: number;
  let pki: Awaited<ReturnType<typeof temporaryPki>>;
  let end: () => Promise<void>;

  before(async () => {
    [api, pki] = await Promise.all([startTestServer({ signingKey: newSigningKey() }), temporaryPki()]);
    await applyManifests(api.client, join(DEPLOY, 'crds'), (object) => object);
    await applyManifests(api.client, DEPLOY, (object) =>
      object.kind === 'ClusterRole' || object.kind === 'Namespace' ? object : undefined,
    );
    for (const [name, role] of [
      ['ada', 'kubevirt.io:edit'],
      ['bob', 'kubevirt.io:edit'],
      ['viewer', 'kubevirt.io:view'],
    ] as const) {
      const namespace = name === 'bob' ? 'theirs' : 'default';
      await apply(api.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
      await api.client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } });
      await bindRole(api.client, { namespace, name: role, as: name, subject: { kind: 'ServiceAccount', name, namespace } });
      const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
      const answer = (await (await api.fetch(path, { method: 'POST', body: '{"spec":{}}' })).json()) as { status: { token: string } };
      tokens.set(name, answer.status.token);
    }
    await api.fetch(`${MACHINES}/default/virtualmachines`, { method: 'POST', body: machine('web') });
    await api.fetch(`${MACHINES}/theirs/virtualmachines`, { method: 'POST', body: machine('secret') });
    const upgrade = () => assert.fail('nobody enters a guest here');
    const reviewToken = async (token: string) => api.server.reviewToken(token);
    const server = await listen({
      handle: (...args) => api.server.handle(...args),
      upgrade,
      pki: pki.pki,
      port: 0,
      reviewToken,
      log: silentLogger,
    });
    const ca = join(pki.folder, 'ca.pem');
    await writeFile(ca, pki.pki.ca);
    await writeFile(join(pki.folder, 'tls.crt'), pki.pki.apiServer.cert);
    await writeFile(join(pki.folder, 'tls.key'), pki.pki.apiServer.key);
    const page = join(pki.folder, 'page');
    await buildUi(page);
    const child = spawn(
      process.execPath,
      [
        `src/cmd/${commandOfPod()}.ts`,
        ...['--host', '127.0.0.1', '--port', '0', '--health-port', '0', '--page', page, '--certificate', pki.folder],
        ...['--api-server', `https://localhost:${server.port}`, '--api-server-ca', ca],
      ],
      { cwd: PROJECT, stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env['PATH'] } },
    );
    const ended = once(child, 'exit');
    for await (const line of createInterface(child.stdout)) {
      const said = JSON.parse(line) as { port?: number };
      if (said.port !== undefined) {
        port = said.port;
        break;
      }
    }
    assert.ok(port, 'virt-ui ended before it served');
    end = async () => {
      child.kill('SIGTERM');
      assert.deepEqual(await ended, [0, null]);
      await server.close();
      api.close();
      await pki.remove();
    };
  });
  after(() => end?.());

  /** A request of a browser that shows this page. */
  const browse = (path: string, { headers = {}, ...options }: { method?: string; headers?: Record<string, string>; body?: string } = {}) =>
    ask({ port, ca: pki.pki.ca, path, ...options, headers: { host: HOST, origin: `https://${HOST}`, ...headers } });
  const signInWith = (token: string, headers: Record<string, string> = {}) =>
    browse('/sign-in', {
      method: 'POST',
      body: new URLSearchParams({ token }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    });
  const cookieIn = ({ headers }: Answer) => headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  const signIn = async (name: string) => ({ cookie: cookieIn(await signInWith(tokens.get(name) ?? '')) });
  const namesIn = ({ body }: Answer) => (JSON.parse(body) as { items: KubeObject[] }).items.map(({ metadata }) => metadata.name);
  const listOf = (namespace: string) => `${MACHINES}/${namespace}/virtualmachines`;

  test('who is not signed in gets the form, which no other site can frame or send, and nothing of the API', async () => {
    const form = await browse('/ns/default/vm/web');
    assert.deepEqual([form.status, form.headers['x-frame-options'], form.headers['cache-control']], [200, 'DENY', 'no-store']);
    assert.match(form.body, /<form method="post" action="\/sign-in">/);
    const policy = String(form.headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[\w+/=]+'; .*form-action 'self'; frame-ancestors 'none'$/);
    assert.equal((await browse(listOf('default'))).status, 401);
    assert.equal((await signInWith(tokens.get('ada') ?? '', { origin: 'https://evil.example' })).status, 403);
  });

  test('a token that the cluster does not know is refused with a sentence, and gives no session', async () => {
    for (const [token, status, sentence] of [
      ['nonsense', 401, /does not know this token/],
      [`${tokens.get('ada')}x`, 401, /does not know this token/],
      ['', 400, /no token/],
      ['two words', 400, /no token/],
      ['x'.repeat(100_000), 400, /no token/],
      ['<script>', 401, /does not know this token/],
    ] as const) {
      const answer = await signInWith(token);
      assert.deepEqual([answer.status, cookieIn(answer)], [status, ''], token.slice(0, 20));
      assert.match(answer.body, sentence);
      assert.doesNotMatch(answer.body, /<script/);
    }
  });

  test('a session is a cookie that scripts cannot read and other sites not send, and the token is not in it', async () => {
    const answer = await signInWith(tokens.get('ada') ?? '');
    const [cookie = ''] = answer.headers['set-cookie'] ?? [];
    assert.match(cookie, /^__Host-kubevirt-ts=[\w-]{43}; HttpOnly; Secure; SameSite=Strict; Path=\/$/);
    assert.deepEqual([answer.status, answer.headers['location']], [303, '/']);
    const about = await browse('/session.json', { headers: { cookie: cookieIn(answer) } });
    const { user, canSignOut } = JSON.parse(about.body) as { user: string; canSignOut: boolean };
    assert.deepEqual([user, canSignOut], ['system:serviceaccount:default:ada', true]);
  });

  test('two people see what is theirs, each in his own browser at the same time', async () => {
    const [ada, bob] = await Promise.all([signIn('ada'), signIn('bob')]);
    assert.notEqual(ada.cookie, bob.cookie);
    const answers = await Promise.all([
      browse(listOf('default'), { headers: ada }),
      browse(listOf('theirs'), { headers: ada }),
      browse(listOf('default'), { headers: bob }),
      browse(listOf('theirs'), { headers: bob }),
    ]);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 403, 403, 200],
    );
    assert.deepEqual([namesIn(answers[0]), namesIn(answers[3])], [['web'], ['secret']]);
  });

  test('who may only look sees machines and changes none, whatever his browser claims to be', async () => {
    const viewer = await signIn('viewer');
    assert.deepEqual(namesIn(await browse(listOf('default'), { headers: viewer })), ['web']);
    const claims = {
      'impersonate-user': 'admin',
      'impersonate-group': 'system:masters',
      'x-remote-user': 'admin',
      'x-remote-group': 'system:masters',
    };
    const attempts = [
      browse(`${listOf('default')}/web`, { method: 'DELETE', headers: { ...viewer, ...claims } }),
      browse(listOf('default'), {
        method: 'POST',
        body: machine('more'),
        headers: { ...viewer, ...claims, 'content-type': 'application/json' },
      }),
    ];
    assert.deepEqual(
      (await Promise.all(attempts)).map(({ status }) => status),
      [403, 403],
    );
    assert.equal((await browse('/api/v1/secrets', { headers: { ...viewer, ...claims } })).status, 403);
  });

  test('a watch is one of its user as well, and only our page opens it', async () => {
    const { cookie } = await signIn('ada');
    const open = (namespace: string, origin: string) => {
      const url = `wss://localhost:${port}${listOf(namespace)}?watch=true`;
      return new WebSocket(url, { ca: pki.pki.ca, headers: { host: HOST, cookie }, origin });
    };
    const first = async (namespace: string) => {
      const socket = open(namespace, `https://${HOST}`);
      const [status] = (await once(socket, 'message')) as [Buffer];
      socket.terminate();
      return String(status);
    };
    assert.deepEqual([await first('default'), await first('theirs')], ['200', '403']);
    const [error] = (await once(open('default', 'https://evil.example'), 'error')) as [Error];
    assert.match(error.message, /403/);
  });

  test('a proxy that signs people in passes their tokens on, request by request', async () => {
    const as = (name: string) => ({ authorization: `Bearer ${tokens.get(name)}` });
    assert.deepEqual(namesIn(await browse(listOf('theirs'), { headers: as('bob') })), ['secret']);
    assert.equal((await browse(listOf('theirs'), { headers: as('ada') })).status, 403);
    const page = await browse('/', { headers: as('ada') });
    assert.deepEqual([page.status, page.headers['content-encoding']], [200, 'gzip']); // the page, not the form
    assert.match(String(page.headers['content-security-policy']), /script-src 'self'; .*frame-ancestors 'none'$/);
    const { canSignOut } = JSON.parse((await browse('/session.json', { headers: as('ada') })).body) as { canSignOut: boolean };
    assert.equal(canSignOut, false);
    const unknown = await browse('/session.json', { headers: { authorization: 'Bearer nobody' } });
    assert.deepEqual([unknown.status, /does not know this token/.test(unknown.body)], [401, true]);
  });

  test('who signs out is out, also for whoever kept the cookie', async () => {
    const [ada, other] = [await signIn('ada'), await signIn('ada')];
    assert.equal((await browse('/sign-out', { method: 'POST', headers: { ...ada, origin: 'https://evil.example' } })).status, 403);
    assert.equal((await browse(listOf('default'), { headers: ada })).status, 200);
    const answer = await browse('/sign-out', { method: 'POST', headers: ada });
    assert.match(answer.headers['set-cookie']?.[0] ?? '', /^__Host-kubevirt-ts=; Max-Age=0; /);
    assert.equal((await browse(listOf('default'), { headers: ada })).status, 401);
    assert.equal((await browse(listOf('default'), { headers: other })).status, 200);
  });

  test('an account that is gone ends the sessions with its token', async () => {
    const bob = await signIn('bob');
    await api.client.delete(SERVICE_ACCOUNTS, { name: 'bob', namespace: 'theirs' });
    assert.equal((await browse(listOf('theirs'), { headers: bob })).status, 401);
    assert.match((await browse('/', { headers: bob })).body, /<form/);
  });

  test('its manifest is one that Kubernetes takes, with an account that may do nothing and has no token', async () => {
    for (const object of manifests()) await apply(api.client, object);
    const pod = (manifests().find(({ kind }) => kind === 'Deployment') as Deployment).spec.template.spec;
    assert.equal((pod as { automountServiceAccountToken?: boolean }).automountServiceAccountToken, false);
    assert.deepEqual([...new Set(manifests().map(({ kind }) => kind))], ['ServiceAccount', 'Service', 'Deployment']);
    const user = 'system:serviceaccount:kubevirt:virt-ui';
    const theirs = api.clientAs(user, ['system:serviceaccounts', 'system:serviceaccounts:kubevirt']);
    await assert.rejects(theirs.request(listOf('default')), { reason: 'Forbidden' });
  });
});

/** What the container of the Deployment runs. */
function commandOfPod(): string {
  const deployment = manifests().find(({ kind }) => kind === 'Deployment') as Deployment | undefined;
  const [container] = deployment?.spec.template.spec.containers ?? [];
  return container?.command[0] ?? assert.fail('it runs something');
}

function machine(name: string): string {
  const spec = { runStrategy: 'Halted', template: { spec: tinySpec } };
  return JSON.stringify({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name }, spec });
}
