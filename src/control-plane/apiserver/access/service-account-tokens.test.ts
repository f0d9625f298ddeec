import assert from 'node:assert/strict';
import { createHmac, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { PODS, type Pod } from '../../../api/core/pod.ts';
import { SERVICE_ACCOUNTS } from '../../../api/core/service-account.ts';
import { newSigningKey } from '../../../base/node/signing-key.ts';
import { FakeClock } from '../../../testing/fake-clock.ts';
import { startTestServer } from '../test-server.testing.ts';

type Status = { readonly token: string; readonly expirationTimestamp: string };
type Review = { authenticated: boolean; user: { username?: string; groups?: string[] }; audiences?: string[] };

const bot = { namespace: 'default', name: 'bot' };
const signingKey = newSigningKey();

async function start(t: TestContext) {
  const clock = new FakeClock(Date.parse('2026-11-15T12:00:00Z'));
  const api = await startTestServer({ clock, signingKey });
  t.after(() => api.close());
  await api.client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: bot });
  const request = (spec: object, user?: string, groups: string[] = []) => {
    const path = '/api/v1/namespaces/default/serviceaccounts/bot/token';
    const init = { method: 'POST', body: JSON.stringify({ spec }) };
    return api.fetch(path, init, user === undefined ? undefined : { user, groups: [...groups, 'system:authenticated'] });
  };
  const tokenFor = async (spec: object = {}) => ((await (await request(spec)).json()) as { status: Status }).status.token;
  const review = async (token: string, audiences?: string[]) => {
    const body = JSON.stringify({ spec: { token, audiences } });
    const answer = await api.fetch('/apis/authentication.k8s.io/v1/tokenreviews', { method: 'POST', body });
    return ((await answer.json()) as { status: Review }).status;
  };
  return { api, clock, request, tokenFor, review };
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}

function forged({ alg, claims, signature }: { alg: string; claims: object; signature: (head: string) => string }): string {
  const head = [{ alg, kid: 'x' }, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${head}.${signature(head)}`;
}

test('a token names its service account, and lives an hour unless asked otherwise', async (t) => {
  const { api, request, tokenFor } = await start(t);
  const { status, spec } = (await (await request({})).json()) as { status: Status; spec: object };
  assert.deepEqual([status.expirationTimestamp, spec], ['2026-11-15T13:00:00Z', { expirationSeconds: 3600 }]);
  const { user, groups } = api.server.reviewToken(status.token)!;
  assert.deepEqual(
    { user, groups },
    {
      user: 'system:serviceaccount:default:bot',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    },
  );
  const { iss, sub, aud, jti, ...rest } = claimsOf(await tokenFor({ expirationSeconds: 1e6 }));
  const issuer = 'https://kubernetes.default.svc.cluster.local';
  assert.deepEqual([iss, sub, aud], [issuer, 'system:serviceaccount:default:bot', [issuer]]);
  assert.equal((rest['exp'] as number) - (rest['iat'] as number), 48 * 3600);
  assert.equal((await request({ expirationSeconds: 599 })).status, 422);
});

test('a token ends with its time, its service account, or its audience', async (t) => {
  const { api, clock, tokenFor, review } = await start(t);
  const token = await tokenFor();
  const elsewhere = await tokenFor({ audiences: ['vault'] });
  assert.equal(api.server.reviewToken(elsewhere), undefined);
  assert.equal((await review(elsewhere)).authenticated, false);
  assert.deepEqual((await review(elsewhere, ['vault', 'other'])).audiences, ['vault']);
  assert.equal((await review(token)).user.username, 'system:serviceaccount:default:bot');

  clock.advance(3_600_000);
  assert.equal(api.server.reviewToken(token), undefined);
  const second = await tokenFor();
  assert.ok(api.server.reviewToken(second));
  await api.client.delete(SERVICE_ACCOUNTS, bot);
  assert.equal(api.server.reviewToken(second), undefined);
  await api.client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: bot });
  assert.equal(api.server.reviewToken(second), undefined, 'a namesake is somebody else');
  clock.advance(-7_200_000);
  assert.equal(api.server.reviewToken(await tokenFor())?.user, 'system:serviceaccount:default:bot');
});

test('a forged token is nobody', async (t) => {
  const { api, tokenFor } = await start(t);
  const token = await tokenFor();
  const claims = claimsOf(token);
  const [header = '', payload = '', signature = ''] = token.split('.');
  const publicPem = createPublicKey(createPrivateKey(signingKey)).export({ type: 'spki', format: 'pem' }).toString();
  const stranger = createPrivateKey(newSigningKey());
  const admin = Buffer.from(JSON.stringify({ ...claims, sub: 'system:serviceaccount:kube-system:admin' })).toString('base64url');
  const forgeries = [
    forged({ alg: 'none', claims, signature: () => '' }),
    forged({ alg: 'none', claims, signature: () => 'x' }),
    forged({ alg: 'HS256', claims, signature: (head) => createHmac('sha256', publicPem).update(head).digest('base64url') }),
    forged({
      alg: 'ES256',
      claims,
      signature: (head) => sign('sha256', Buffer.from(head), { key: stranger, dsaEncoding: 'ieee-p1363' }).toString('base64url'),
    }),
    `${header}.${admin}.${signature}`,
    `${header}.${payload}.`,
    `${header}.${payload}.${Buffer.alloc(64).toString('base64url')}`,
    `${header}.${payload}.${signature}.x`,
    `${header}.${payload}`,
    `${Buffer.from('{"alg":"none"}').toString('base64url')}.${payload}.${signature}`,
    'x',
    '..',
    '',
  ];
  assert.deepEqual(
    forgeries.map((forgery) => api.server.reviewToken(forgery)),
    forgeries.map(() => undefined),
  );
  assert.ok(api.server.reviewToken(token));
});

test('a token bound to a Pod goes with it, and only the node that runs the Pod gets one', async (t) => {
  const { api, request, tokenFor } = await start(t);
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'default' },
    spec: { serviceAccountName: 'bot', nodeName: 'n1', containers: [{ name: 'c', image: 'i' }] },
  };
  const { uid } = (await api.client.create(PODS, pod)).metadata;
  const boundObjectRef = { kind: 'Pod', apiVersion: 'v1', name: 'p', uid };
  const token = await tokenFor({ boundObjectRef });
  assert.deepEqual(api.server.reviewToken(token)?.extra?.['authentication.kubernetes.io/pod-name'], ['p']);

  const statusFor = async (spec: object, user: string) => (await request(spec, user, ['system:nodes'])).status;
  assert.equal(await statusFor({ boundObjectRef }, 'system:node:n1'), 201);
  assert.equal(await statusFor({ boundObjectRef }, 'system:node:n2'), 403);
  assert.equal(await statusFor({}, 'system:node:n1'), 403);
  assert.equal((await request({ boundObjectRef: { ...boundObjectRef, uid: 'other' } })).status, 409);
  assert.equal((await request({ boundObjectRef: { ...boundObjectRef, name: 'q' } })).status, 404);

  await api.client.delete(PODS, pod.metadata, { gracePeriodSeconds: 0 });
  assert.equal(api.server.reviewToken(token), undefined);
});

test('whoever wants to check tokens finds the key', async (t) => {
  const { api, tokenFor } = await start(t);
  const anybody = { user: 'system:serviceaccount:default:bot', groups: ['system:serviceaccounts'] };
  const configuration = await (await api.fetch('/.well-known/openid-configuration', {}, anybody)).json();
  assert.match((configuration as { jwks_uri: string }).jwks_uri, /\/openid\/v1\/jwks$/);
  const keys = (await (await api.fetch('/openid/v1/jwks', {}, anybody)).json()) as { keys: object[] };
  const key = createPublicKey({ key: keys.keys[0] as never, format: 'jwk' });
  const [header, payload, signature = ''] = (await tokenFor()).split('.');
  const data = Buffer.from(`${header}.${payload}`);
  assert.ok(verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url')));
  assert.equal((await api.fetch('/openid/v1/jwks', {}, { user: 'system:anonymous', groups: [] })).status, 403);
});

test('a new Pod gets the token of its service account, unless somebody does not want it', async (t) => {
  const { api } = await start(t);
  const volumesOf = async (name: string, spec: object) => {
    const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec } as never;
    const { spec: made } = await api.client.create<Pod>(PODS, object);
    return [made.volumes?.length ?? 0, made.containers[0]?.volumeMounts?.[0]?.mountPath];
  };
  const containers = [{ name: 'c', image: 'i' }];
  const path = '/var/run/secrets/kubernetes.io/serviceaccount';
  assert.deepEqual(await volumesOf('a', { serviceAccountName: 'bot', containers }), [1, path]);
  assert.deepEqual(await volumesOf('b', { serviceAccountName: 'bot', automountServiceAccountToken: false, containers }), [0, undefined]);
  const mounted = [{ name: 'c', image: 'i', volumeMounts: [{ name: 'v', mountPath: path }] }];
  assert.deepEqual(await volumesOf('c', { serviceAccountName: 'bot', containers: mounted, volumes: [{ name: 'v', emptyDir: {} }] }), [
    1,
    path,
  ]);
  await assert.rejects(volumesOf('d', { serviceAccountName: 'nobody', containers }), {
    reason: 'Forbidden',
    message: 'pods "d" is forbidden: error looking up service account default/nobody: serviceaccount "nobody" not found',
  });
});

test('a Pod that is quicker than the default service account of its namespace waits for it', async (t) => {
  const { api } = await start(t);
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p', namespace: 'kube-public' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  };
  const created = api.client.create<Pod>(PODS, pod as never);
  const metadata = { name: 'default', namespace: 'kube-public' };
  await api.client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  assert.equal((await created).spec.serviceAccountName, 'default');
});
