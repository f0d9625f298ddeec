import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { EVENTS } from '../../api/core/event.ts';
import type { Pod } from '../../api/core/pod.ts';
import { SECRETS } from '../../api/core/secret.ts';
import { createImagePuller } from '../../images/image-puller.ts';
import { readIndex } from '../../images/layout.ts';
import { pushImage } from '../../images/push.ts';
import { basic, TestRegistry, type TestRegistryOptions } from '../../images/registry.testing.ts';
import { until } from '../../testing/until.ts';
import { addDiskImage, sh, testNode } from './node.testing.ts';

const ACCOUNT = 'me:secret';

/** A node with a registry that has a disk as team/disk:1; its store has nothing. */
async function world(t: TestContext, options: TestRegistryOptions = {}) {
  const registry = await TestRegistry.start(options);
  t.after(() => registry[Symbol.asyncDispose]());
  const node = await testNode(t);
  const other = { ...node, dir: join(node.dir, 'other') };
  await mkdir(other.dir);
  await addDiskImage(other, 'localhost/made', 'disk');
  const dir = join(other.dir, 'images');
  const [descriptor] = readIndex(dir);
  const login = { kind: 'password', authorization: basic(ACCOUNT), file: 'x' } as const;
  const send = (tag: string) =>
    pushImage({ dir, descriptor: descriptor!, registry: `http://${registry.host}`, repository: 'team/disk', tag, login }); // the one that was made
  await send('1');
  const puller = createImagePuller({ dir: join(node.dir, 'images'), env: { DOCKER_CONFIG: node.dir }, hasHostLoopback: true });
  node.start({ puller });
  const image = `${registry.host}/team/disk:1`;
  const run = (name: string, reference = image, more: object = {}) =>
    node.run(name, {
      containers: [
        sh('cat "$CONTAINER_SANDBOX_MOUNT_POINT/disk/disk/disk.img" 2>/dev/null; exit 0', {
          volumeMounts: [{ name: 'disk', mountPath: '/disk' }],
        }),
      ],
      volumes: [{ name: 'disk', image: { reference } }],
      ...more,
    });
  const eventsOf = async (name: string) => {
    const { items } = await node.client.list(EVENTS, { namespace: 'default' });
    return items.filter(({ involvedObject }) => involvedObject.name === name).map(({ reason, message }) => `${reason}: ${message}`);
  };
  return { registry, node, image, run, send, eventsOf };
}

const isDone = (pod: Pod) => pod.status?.phase === 'Succeeded';
const waiting = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state?.waiting;

test('an image that is not here is pulled when a Pod needs it, once, and that is told', async (t) => {
  const { registry, node, image, run, eventsOf } = await world(t);
  await run('one');
  await node.when('one', isDone);
  await run('two');
  await node.when('two', isDone);
  assert.equal(registry.asked.filter(({ what }) => what.startsWith('GET')).length, 3); // a manifest, a layer, a configuration
  await until(async () => (await eventsOf('one')).length >= 3, 'the event');
  const events = await eventsOf('one');
  assert.ok(events.includes(`Pulling: Pulling image "${image}"`));
  assert.match(
    events.find((text) => text.startsWith('Pulled')) ?? '',
    /^Pulled: Successfully pulled image "\S+" in [\d.]+s \([\d.]+s including waiting\)\. Image size: \d+ bytes\.$/,
  );
});

test('Always asks the registry again, and takes what it has now', async (t) => {
  const { registry, node, run } = await world(t);
  const always = { volumes: [{ name: 'disk', image: { reference: `${registry.host}/team/disk:1`, pullPolicy: 'Always' as const } }] };
  await run('one', undefined, always);
  await node.when('one', isDone);
  const before = registry.asked.length;
  await run('two', undefined, always);
  await node.when('two', isDone);
  assert.deepEqual(
    registry.asked.slice(before).map(({ what }) => what),
    ['GET /v2/team/disk/manifests/1'],
  );
});

test('a name that was given here is never asked for elsewhere', async (t) => {
  const { registry, node, run } = await world(t);
  await addDiskImage(node, `${registry.host}/team/own:latest`, 'own');
  const before = registry.asked.length;
  await run('own', `${registry.host}/team/own:latest`);
  await node.when('own', isDone);
  assert.equal(registry.asked.length, before);
});

test('a closed registry opens with the Secret that the Pod names', async (t) => {
  const { registry, node, run, eventsOf } = await world(t, { access: 'basic', account: ACCOUNT });
  await run('without');
  const pod = await node.when('without', (each) => waiting(each)?.reason === 'ErrImagePull');
  assert.match(waiting(pod)?.message ?? '', /does not give out the image: it answered 401/);
  await node.when('without', (each) => waiting(each)?.reason === 'ImagePullBackOff');
  await until(async () => (await eventsOf('without')).length >= 5, 'events');
  assert.deepEqual((await eventsOf('without')).map((text) => text.replace(/(Failed to pull image).*/, '$1').replace(/"\S+"/, 'X')).sort(), [
    'BackOff: Back-off pulling image X',
    'Failed: Error: ErrImagePull',
    'Failed: Error: ImagePullBackOff',
    'Failed: Failed to pull image',
    'Pulling: Pulling image X',
  ]);
  const auth = Buffer.from(ACCOUNT).toString('base64');
  const config = { auths: { [registry.host]: { auth } } };
  const secrets = {
    new: { type: 'kubernetes.io/dockerconfigjson', data: { '.dockerconfigjson': Buffer.from(JSON.stringify(config)).toString('base64') } },
    old: { type: 'kubernetes.io/dockercfg', data: { '.dockercfg': Buffer.from(JSON.stringify(config.auths)).toString('base64') } },
  };
  for (const [name, secret] of Object.entries(secrets)) {
    await node.client.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'default' }, ...secret });
    const image = { reference: `${registry.host}/team/disk:1`, pullPolicy: 'Always' as const };
    await run(name, undefined, { imagePullSecrets: [{ name: 'missing' }, { name }], volumes: [{ name: 'disk', image }] });
    await node.when(name, isDone);
  }
});

test('what cannot be pulled is said with the reason that upstream has for it', async (t) => {
  const { registry, node, run } = await world(t);
  const never = { volumes: [{ name: 'disk', image: { reference: `${registry.host}/team/x:1`, pullPolicy: 'Never' as const } }] };
  await run('never', undefined, never);
  await run('name', 'Not A Name');
  await run('absent', `${registry.host}/team/absent:1`);
  const reasons = await Promise.all(
    ['never', 'name', 'absent'].map(async (name) => waiting(await node.when(name, (each) => waiting(each)?.message !== undefined))),
  );
  assert.deepEqual(
    reasons.map((each) => each?.reason),
    ['ErrImageNeverPull', 'InvalidImageName', 'ErrImagePull'],
  );
  assert.match(reasons[2]?.message ?? '', /is not at its registry: team\/absent:1: not found/);
});

test('where neither a published image nor what stands in for it is here, how to make that is said', async (t) => {
  const { node, run } = await world(t);
  const published = { reference: 'kubevirt/cirros-container-disk-demo', pullPolicy: 'Never' as const };
  await run('db', undefined, { volumes: [{ name: 'disk', image: published }] });
  const { status } = await node.when('db', (pod) => waiting(pod)?.reason === 'ErrImageNeverPull');
  assert.match(
    status?.containerStatuses?.[0]?.state?.waiting?.message ?? '',
    /tiny32:latest, which stands in for it, is not in the local store either: virtctl up brings it in/,
  );
});
