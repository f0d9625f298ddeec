import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { CONFIG_MAPS } from '../../api/core/configmap.ts';
import { LEASES } from '../../api/core/lease.ts';
import { NODES } from '../../api/core/node.ts';
import { PODS, type Pod } from '../../api/core/pod.ts';
import { SECRETS } from '../../api/core/secret.ts';
import { conditionOf, hasCondition } from '../../api/meta.ts';
import { ApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import { until } from '../../testing/until.ts';
import { skipContainers } from './containers/busybox.testing.ts';
import { addDiskImage, processesOf, sh, testNode } from './node.testing.ts';
import { whoWeMayBecome } from './privileges.ts';

const stateOf = ({ status }: Pod) => status?.containerStatuses?.[0]?.state;
const isRunning = (pod: Pod) => stateOf(pod)?.running !== undefined;
const text = async (response: Promise<Response>) => (await response).text();

describe('the node', () => {
  test('registers itself as ready and holds its lease', async (t) => {
    const node = await testNode(t);
    await node.start().registered;
    const registered = await node.client.get(NODES, { name: 'n1' });
    assert.ok(hasCondition(registered?.status?.conditions, 'Ready'));
    assert.equal(registered?.metadata.labels?.['kubernetes.io/hostname'], 'n1');
    assert.equal(registered?.status?.capacity?.['pods'], '110');
    await until(async () => (await node.client.get(LEASES, { namespace: 'kube-node-lease', name: 'n1' })) !== undefined);
  });

  test('keeps what others say about it', async (t) => {
    const node = await testNode(t);
    await node.start().registered;
    await node.client.patch(NODES, { name: 'n1' }, { metadata: { labels: { 'kubevirt.io/schedulable': 'true' } } });
    await node.client.patch(
      NODES,
      { name: 'n1' },
      { status: { capacity: { 'devices.kubevirt.io/kvm': '1k' } } },
      { subresource: 'status' },
    );
    await node.stop();
    await node.start().registered;
    const found = await node.client.get(NODES, { name: 'n1' });
    assert.equal(found?.metadata.labels?.['kubevirt.io/schedulable'], 'true');
    assert.equal(found?.status?.capacity?.['devices.kubevirt.io/kvm'], '1k');
  });
});

describe('a Pod', () => {
  test('runs, and its exit code decides its phase', async (t) => {
    const node = await testNode(t);
    node.start();
    await node.run('good', { containers: [sh('exit 0')] });
    await node.run('bad', { containers: [sh('exit 3')] });
    const good = await node.when('good', ({ status }) => status?.phase === 'Succeeded');
    const bad = await node.when('bad', ({ status }) => status?.phase === 'Failed');
    assert.equal(stateOf(good)?.terminated?.reason, 'Completed');
    assert.deepEqual([stateOf(bad)?.terminated?.exitCode, stateOf(bad)?.terminated?.reason], [3, 'Error']);
  });

  test('a Pod that fails tells the end of its log where it asks for that', async (t) => {
    const node = await testNode(t);
    node.start();
    const says = sh('seq 1000 2000; echo the reason >&2; exit 3');
    await node.run('told', { containers: [{ ...says, terminationMessagePolicy: 'FallbackToLogsOnError' }] });
    await node.run('untold', { containers: [says] });
    await node.run('content', { containers: [{ ...sh('echo fine'), terminationMessagePolicy: 'FallbackToLogsOnError' }] });
    const messages: (string | undefined)[] = [];
    for (const name of ['told', 'untold', 'content']) {
      messages.push(stateOf(await node.when(name, (pod) => stateOf(pod)?.terminated !== undefined))?.terminated?.message);
    }
    const lines = Array.from({ length: 79 }, (_, index) => String(1922 + index));
    assert.deepEqual(messages, [`${[...lines, 'the reason'].join('\n')}\n`, undefined, undefined]);
  });

  test('sees its environment, fields and volumes', async (t) => {
    const node = await testNode(t);
    const at = { namespace: 'default' };
    await node.client.create(CONFIG_MAPS, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...at, name: 'cm' },
      data: { key: 'from-map' },
    });
    await node.client.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { ...at, name: 'sec' },
      data: { userdata: Buffer.from('from-secret').toString('base64') },
    });
    await addDiskImage(node, 'localhost/guests/tiny', 'from-image');
    const kubelet = node.start({ apiServerUrl: 'https://10.96.0.1:6443' });
    const root = '"$CONTAINER_SANDBOX_MOUNT_POINT"';
    const script = [
      'echo $NAME $GREETING "$@" $KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT',
      `cat ${root}/cm/key ${root}/sec/userdata ${root}/disk/disk/disk.img ${root}/info/who; pwd -P; echo data > ${root}/var/run/public/file`,
    ].join(';');
    const pod = await node.run(
      'all',
      {
        containers: [
          {
            ...sh(script),
            args: ['script', '$(GREETING)', '$$(NAME)'],
            workingDir: '/var/run/public',
            env: [
              { name: 'NAME', valueFrom: { fieldRef: { fieldPath: "metadata.labels['who']" } } },
              { name: 'GREETING', value: 'hello-$(NAME)' },
              { name: 'CONTAINER_SANDBOX_MOUNT_POINT', value: '/' },
            ],
            volumeMounts: [
              { name: 'public', mountPath: '/var/run/public' },
              { name: 'cm', mountPath: '/cm' },
              { name: 'sec', mountPath: '/sec' },
              { name: 'disk', mountPath: '/disk', readOnly: true },
              { name: 'info', mountPath: '/info' },
            ],
          },
        ],
        volumes: [
          { name: 'public', emptyDir: {} },
          { name: 'cm', configMap: { name: 'cm' } },
          { name: 'sec', secret: { secretName: 'sec' } },
          { name: 'disk', image: { reference: 'localhost/guests/tiny' } },
          { name: 'info', downwardAPI: { items: [{ path: 'who', fieldRef: { fieldPath: 'metadata.name' } }] } },
        ],
      },
      { labels: { who: 'world' } },
    );
    const ended = await node.when('all', ({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed');
    const dir = join(node.rootDir, 'pods', pod.metadata.uid!);
    const publicDir = join(dir, 'volumes/kubernetes.io~empty-dir/public');
    assert.equal(
      await text(kubelet.logs(ended)),
      `world hello-world hello-world $(NAME) 10.96.0.1:6443\nfrom-mapfrom-secretfrom-imageall${publicDir}\n`,
    );
    assert.equal(await readFile(join(publicDir, 'file'), 'utf8'), 'data\n');
  });

  test('has an address of its own, for life', async (t) => {
    const node = await testNode(t);
    node.start();
    await Promise.all(['a', 'b', 'c'].map((name) => node.run(name, { containers: [sh('sleep 60')] })));
    const before = await Promise.all(['a', 'b', 'c'].map((name) => node.when(name, isRunning)));
    const addresses = before.map(({ status }) => status?.podIP);
    assert.equal(new Set(addresses).size, 3);
    assert.ok(addresses.every((address) => address?.startsWith('10.244.')));
    await node.stop();
    node.start();
    await node.run('d', { containers: [sh('sleep 60')] });
    assert.ok(!addresses.includes((await node.when('d', isRunning)).status?.podIP));
  });

  test('runs init containers one after the other before the others', async (t) => {
    const node = await testNode(t);
    const kubelet = node.start();
    const mounts = { volumeMounts: [{ name: 'v', mountPath: '/v' }] };
    const order = 'echo $HOSTNAME >> "$CONTAINER_SANDBOX_MOUNT_POINT"/v/order; cat "$CONTAINER_SANDBOX_MOUNT_POINT"/v/order | wc -l';
    await node.run('p', {
      initContainers: [
        { ...sh(order), name: 'one', ...mounts },
        { ...sh(order), name: 'two', ...mounts },
      ],
      containers: [{ ...sh(order), ...mounts }],
      volumes: [{ name: 'v', emptyDir: {} }],
    });
    const pod = await node.when('p', ({ status }) => status?.phase === 'Succeeded');
    const outputs = ['one', 'two', 'main'].map((container) => text(kubelet.logs(pod, { container })));
    assert.deepEqual(await Promise.all(outputs), ['1\n', '2\n', '3\n']);
    assert.ok(hasCondition(pod.status?.conditions, 'Initialized'));
  });

  test('fails when an init container fails, and starts nothing else', async (t) => {
    const node = await testNode(t);
    node.start();
    await node.run('p', { initContainers: [{ ...sh('exit 1'), name: 'init' }], containers: [sh('sleep 60')] });
    const pod = await node.when('p', ({ status }) => status?.phase === 'Failed');
    assert.equal(stateOf(pod)?.waiting?.reason, 'PodInitializing');
  });

  test('starts again as its restart policy says: at once the first time, then after a back-off', async (t) => {
    const node = await testNode(t);
    const kubelet = node.start();
    await node.run('p', { restartPolicy: 'Always', containers: [sh('echo run; exit 1')] });
    const pod = await node.when('p', (each) => stateOf(each)?.waiting?.reason === 'CrashLoopBackOff');
    const [status] = pod.status?.containerStatuses ?? [];
    assert.deepEqual([pod.status?.phase, status?.restartCount, status?.lastState?.terminated?.exitCode], ['Running', 1, 1]);
    assert.match(status?.state?.waiting?.message ?? '', /^back-off 10s restarting failed container=main pod=p_default/);
    assert.equal(await text(kubelet.logs(pod, { previous: true })), 'run\n');
  });

  test('is ready only when its readiness gates are, and keeps what others write', async (t) => {
    const node = await testNode(t);
    node.start();
    await node.run('p', { readinessGates: [{ conditionType: 'example.com/gate' }], containers: [sh('sleep 60')] });
    const pod = await node.when('p', (each) => hasCondition(each.status?.conditions, 'ContainersReady'));
    assert.equal(conditionOf(pod.status?.conditions, 'Ready')?.reason, 'ReadinessGatesNotReady');
    const conditions = [...(pod.status?.conditions ?? []), { type: 'example.com/gate', status: 'True' as const }];
    await node.client.patch(PODS, pod.metadata, { status: { conditions } }, { subresource: 'status' });
    const ready = await node.when('p', (each) => hasCondition(each.status?.conditions, 'Ready'));
    assert.ok(hasCondition(ready.status?.conditions, 'example.com/gate'));
  });

  test("whose program is not the image's own is never started", async (t) => {
    const node = await testNode(t);
    node.start();
    for (const [name, program] of [
      ['path', '/bin/sh'],
      ['up', '../sh'],
      ['other', 'cat'],
    ] as const) {
      await node.run(name, { containers: [{ ...sh(''), command: [program] }] });
      const pod = await node.when(name, (each) => stateOf(each)?.waiting?.reason === 'CreateContainerConfigError');
      assert.match(stateOf(pod)?.waiting?.message ?? '', /is not a program of this built-in image/);
    }
    assert.deepEqual(processesOf(node.dir), []);
  });

  test('whose state cannot be written down is still looked after', async (t) => {
    const node = await testNode(t);
    node.start();
    const pod = await node.run('p', { containers: [sh('exec sleep 60')] });
    await node.when('p', isRunning);
    await rm(join(node.rootDir, 'pods', pod.metadata.uid!, 'containers'), { recursive: true });
    for (const { pid } of processesOf(node.dir)) process.kill(pid, 'SIGKILL');
    assert.equal(stateOf(await node.when('p', ({ status }) => status?.phase === 'Failed'))?.terminated?.exitCode, 137);
  });

  test('a Pod that shows a component of this process is left alone', async (t) => {
    const node = await testNode(t);
    node.start();
    await node.run('mirror', { containers: [sh('sleep 60')] }, { annotations: { 'kubernetes.io/config.mirror': 'x' } });
    await node.run('real', { containers: [sh('exit 0')] });
    await node.when('real', ({ status }) => status?.phase === 'Succeeded');
    const mirror = await node.client.get(PODS, { namespace: 'default', name: 'mirror' });
    assert.equal(mirror?.status?.podIP, undefined);
  });
});

describe('images', () => {
  test('one that is missing is waited for, and the Pod starts when it comes', async (t) => {
    const node = await testNode(t);
    node.start();
    await node.run('p', {
      containers: [sh('cat "$CONTAINER_SANDBOX_MOUNT_POINT"/disk/disk/disk.img', { volumeMounts: [{ name: 'disk', mountPath: '/disk' }] })],
      volumes: [{ name: 'disk', image: { reference: 'localhost/late' } }],
    });
    const first = await node.when('p', (each) => stateOf(each)?.waiting?.reason === 'ErrImagePull');
    assert.match(stateOf(first)?.waiting?.message ?? '', /^image "localhost\/late" is not in the local store/);
    const second = await node.when('p', (each) => stateOf(each)?.waiting?.reason === 'ImagePullBackOff');
    assert.match(stateOf(second)?.waiting?.message ?? '', /^Back-off pulling image "localhost\/late"/);
    assert.equal(second.status?.phase, 'Pending');
    await addDiskImage(node, 'localhost/late', 'here');
    await node.when('p', ({ status }) => status?.phase === 'Succeeded');
  });

  test('a container whose image is not there says so', { skip: skipContainers() }, async (t) => {
    const node = await testNode(t);
    node.start({ mayBecome: whoWeMayBecome() });
    await node.run('p', { containers: [{ name: 'main', image: 'nginx', command: ['nginx'] }] });
    const pod = await node.when(
      'p',
      (each) => stateOf(each)?.waiting !== undefined && stateOf(each)?.waiting?.reason !== 'ContainerCreating',
    );
    assert.deepEqual([stateOf(pod)?.waiting?.reason, pod.status?.phase], ['ErrImagePull', 'Pending']);
    assert.match(stateOf(pod)?.waiting?.message ?? '', /image "nginx" is not in the local store/);
  });
});

describe('deletion', () => {
  test('asks the containers to end, then removes folder and object', async (t) => {
    const node = await testNode(t);
    node.start();
    const pod = await node.run('p', {
      containers: [sh('trap "exit 0" TERM; while :; do sleep 0.05; done')],
      terminationGracePeriodSeconds: 30,
    });
    await node.when('p', isRunning);
    await node.client.delete(PODS, pod.metadata);
    await node.gone('p');
    assert.equal(existsSync(join(node.rootDir, 'pods', pod.metadata.uid!)), false);
    await until(() => processesOf(node.dir).length === 0, 'processes to end');
  });

  test('uses the stop signal of the image', async (t) => {
    const node = await testNode(t);
    const programs = join(node.dir, 'programs');
    node.start({ builtInImages: { 'test/shell': { path: programs, programs: ['sh'], stopSignal: 'SIGCONT' } } });
    const trapped = join(node.dir, 'trapped');
    const pod = await node.run('p', { containers: [sh(`trap "exit 0" CONT; : > ${trapped}; while :; do sleep 0.05; done`)] });
    await node.when('p', isRunning);
    await until(() => existsSync(trapped), 'the trap');
    const ended = node.when('p', ({ status }) => status?.phase === 'Succeeded');
    await node.client.delete(PODS, pod.metadata);
    await ended;
  });

  test('starts the entrypoint of the image when the Pod names no command, with the arguments of the Pod', async (t) => {
    const node = await testNode(t);
    const image = { path: join(node.dir, 'programs'), programs: ['sh'], entrypoint: 'sh' };
    const kubelet = node.start({ builtInImages: { 'test/shell': image } });
    await node.run('p', { containers: [{ ...sh(''), command: [], args: ['-c', 'echo $0 $1', 'one', 'two'] }] });
    const pod = await node.when('p', ({ status }) => status?.phase === 'Succeeded');
    assert.equal(await (await kubelet.logs(pod)).text(), 'one two\n');
  });

  test('kills what ignores the signal when the grace period is over, with everything it started', async (t) => {
    const node = await testNode(t);
    node.start();
    const trapped = join(node.dir, 'trapped');
    const pod = await node.run('p', { containers: [sh(`trap "" TERM; : > ${trapped}; sleep 60 & while :; do sleep 0.1; done`)] });
    await node.when('p', isRunning);
    await until(() => existsSync(trapped), 'the trap');
    const ended = node.when('p', (each) => stateOf(each)?.terminated !== undefined);
    await node.client.delete(PODS, pod.metadata, { gracePeriodSeconds: 1 });
    assert.equal(stateOf(await ended)?.terminated?.exitCode, 137);
    await until(() => processesOf(node.dir).length === 0, 'processes to end');
  });

  test('a Pod that is deleted by force is gone at once, with its processes and its folder', async (t) => {
    const node = await testNode(t);
    node.start();
    const pod = await node.run('p', { containers: [sh('trap "" TERM; sleep 60')] });
    await node.when('p', isRunning);
    await node.client.delete(PODS, pod.metadata, { gracePeriodSeconds: 0 });
    await until(async () => (await readdir(join(node.rootDir, 'pods'))).length === 0, 'the folder to go');
    assert.deepEqual(processesOf(node.dir), []);
  });

  test('is tried again when the API does not answer, and done once when a finalizer holds the object', async (t) => {
    const node = await testNode(t);
    let deletes = 0;
    const client: Client = {
      ...node.client,
      async delete(...args) {
        if (++deletes === 1) throw new ApiError('ServiceUnavailable', 'not now');
        await node.client.delete(...args);
      },
    };
    node.start({ client });
    const pod = await node.run('p', { containers: [sh('exec sleep 60')] }, { finalizers: ['example.com/hold'] });
    await node.when('p', isRunning);
    await node.client.delete(PODS, pod.metadata);
    await until(() => deletes === 2, 'the second try');
    await node.client.patch(PODS, pod.metadata, { metadata: { annotations: { touched: 'yes' } } });
    await node.run('later', { containers: [sh('exit 0')] });
    await node.when('later', ({ status }) => status?.phase === 'Succeeded');
    assert.equal(deletes, 2);
    await node.client.patch(PODS, pod.metadata, { metadata: { finalizers: null } });
    await node.gone('p');
  });

  test('finds a Pod that never started', async (t) => {
    const node = await testNode(t);
    node.start();
    const pod = await node.run('p', { containers: [sh('')], volumes: [{ name: 'v', configMap: { name: 'missing' } }] });
    await node.when('p', (each) => /configmap "missing" not found/.test(stateOf(each)?.waiting?.message ?? ''));
    await node.client.delete(PODS, pod.metadata);
    await node.gone('p');
    assert.deepEqual(await readdir(join(node.rootDir, 'pods')), []);
  });

  test('does not follow links out of the folder', async (t) => {
    const node = await testNode(t);
    await addDiskImage(node, 'localhost/shared', 'precious');
    node.start();
    const pod = await node.run('p', {
      containers: [
        sh('ln -s "$PRECIOUS" "$CONTAINER_SANDBOX_MOUNT_POINT"/v/link', {
          env: [{ name: 'PRECIOUS', value: node.dir }],
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        }),
      ],
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 'disk', image: { reference: 'localhost/shared' } },
        { name: 'host', hostPath: { path: node.dir } },
      ],
    });
    await node.when('p', ({ status }) => status?.phase === 'Succeeded');
    await node.client.delete(PODS, pod.metadata);
    await node.gone('p');
    assert.equal(await readFile(join(await node.images.unpacked('localhost/shared'), 'disk/disk.img'), 'utf8'), 'precious');
    assert.ok((await stat(join(node.dir, 'programs'))).isDirectory());
  });
});

describe('logs', () => {
  test('the last lines, at most so many bytes', async (t) => {
    const node = await testNode(t);
    const kubelet = node.start();
    await node.run('p', { containers: [sh('echo one; echo two >&2; echo three')] });
    const pod = await node.when('p', ({ status }) => status?.phase === 'Succeeded');
    assert.equal(await text(kubelet.logs(pod)), 'one\ntwo\nthree\n');
    assert.equal(await text(kubelet.logs(pod, { tailLines: 2 })), 'two\nthree\n');
    assert.equal(await text(kubelet.logs(pod, { tailLines: 0 })), '');
    assert.equal(await text(kubelet.logs(pod, { limitBytes: 5 })), 'one\nt');
    await assert.rejects(kubelet.logs(pod, { container: 'no' }), { reason: 'BadRequest' });
    assert.match(await (await kubelet.logs(pod, { timestamps: true, tailLines: 1 })).text(), /^\d{4}-\d\d-\d\dT[\d:]+\.\d{9}Z \S/);
    assert.equal(await (await kubelet.logs(pod, { sinceTime: '2100-01-01T00:00:00Z' })).text(), '');
    assert.equal(await (await kubelet.logs(pod, { sinceSeconds: 3600 })).text(), await (await kubelet.logs(pod)).text());
    await assert.rejects(kubelet.logs(pod, { sinceTime: 'yesterday' }), { reason: 'BadRequest', message: /is not a time/ });
    await assert.rejects(kubelet.logs(pod, { sinceTime: '2100-01-01T00:00:00Z', sinceSeconds: 1 }), { reason: 'BadRequest' });
  });

  test('followed until the container ends', async (t) => {
    const node = await testNode(t);
    const kubelet = node.start();
    const script = 'echo start; until [ -e "$CONTAINER_SANDBOX_MOUNT_POINT"/v/go ]; do sleep 0.02; done; echo end';
    const created = await node.run('p', {
      containers: [sh(script, { volumeMounts: [{ name: 'v', mountPath: '/v' }] })],
      volumes: [{ name: 'v', emptyDir: {} }],
    });
    const pod = await node.when('p', isRunning);
    const response = await kubelet.logs(pod, { follow: true });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    assert.equal((await reader.read()).value, 'start\n');
    await writeFile(join(node.rootDir, 'pods', created.metadata.uid!, 'volumes/kubernetes.io~empty-dir/v/go'), '');
    assert.equal((await reader.read()).value, 'end\n');
    assert.equal((await reader.read()).done, true);
  });

  test('do not grow for ever', async (t) => {
    const node = await testNode(t);
    node.start();
    const pod = await node.run('p', { containers: [sh('head -c 11000000 /dev/zero; exec sleep 60')] });
    await node.when('p', isRunning);
    const log = join(node.rootDir, 'pods', pod.metadata.uid!, 'containers/main/0.log');
    await until(() => existsSync(`${log}.1`) && statSync(log).size < 2_000_000, 'the log to be cut');
  });

  test('logs of a container that has not started are refused', { skip: skipContainers() }, async (t) => {
    const node = await testNode(t);
    const kubelet = node.start({ mayBecome: whoWeMayBecome() });
    await node.run('p', { containers: [{ name: 'main', image: 'nginx', command: ['x'] }] });
    const pod = await node.when('p', (each) => stateOf(each)?.waiting?.reason === 'ErrImagePull');
    await assert.rejects(kubelet.logs(pod), {
      reason: 'BadRequest',
      message: 'container "main" in pod "p" is waiting to start: ErrImagePull',
    });
  });
});
