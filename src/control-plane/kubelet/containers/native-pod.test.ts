import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, link, mkdir, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CONFIG_MAPS } from '../../../api/core/configmap.ts';
import { EVENTS } from '../../../api/core/event.ts';
import { type Container, PODS, type Pod } from '../../../api/core/pod.ts';
import { ranOutOfMemory, tryCgroups } from '../../../base/node/cgroups.ts';
import { containerCgroup } from '../../../base/node/container-cgroups.ts';
import { processLimit } from '../../../base/node/container-limits.ts';
import { firstProcessesOf } from '../../../base/node/pod-sandbox.ts';
import { findByVariable, isSameProcess, type ProcessIdentity, signalProcess } from '../../../base/node/process-identity.ts';
import { SANDBOX_VARIABLE } from '../../../base/node/sandbox-path.ts';
import { until } from '../../../testing/until.ts';
import { processesOf, type TestNode, testNode } from '../node.testing.ts';
import { whoWeMayBecome } from '../privileges.ts';
import type { Kubelet } from '../start.ts';
import { ownerOfPod } from '../user-of-pod.ts';
import { refreshVolumes } from '../volumes.ts';
import { addBusybox, BUSYBOX_IMAGE, skipContainers } from './busybox.testing.ts';

const skip = skipContainers();
const cgroups = tryCgroups();
const whyNoLimits = 'why' in cgroups && cgroups.why;
/** Another run of these tests on this machine has other addresses. */
const POD_CIDR = `127.${16 + (process.pid % 200)}.0.0/16`;

async function nativeNode(t: TestContext): Promise<{ node: TestNode; kubelet: Kubelet; start: () => Kubelet }> {
  const node = await testNode(t);
  await addBusybox(join(node.dir, 'images'));
  const start = () => node.start({ mayBecome: whoWeMayBecome(), podCidr: POD_CIDR });
  return { node, kubelet: start(), start };
}

function busybox(script: string, more: Partial<Container> = {}): Container {
  return { name: 'main', image: BUSYBOX_IMAGE, command: ['sh', '-c', script], ...more };
}

async function logOf(kubelet: Kubelet, pod: Pod, container = 'main'): Promise<string> {
  return (await kubelet.logs(pod, { container })).text();
}

/** The folders of the cgroups of a Pod's one container. */
function cgroupsOf(rootDir: string, uid: string): string[] {
  return 'why' in cgroups ? [] : containerCgroup(cgroups, { podDir: join(rootDir, 'pods', uid), container: 'main' });
}

const terminated = (pod: Pod) => pod.status?.containerStatuses?.[0]?.state?.terminated;
const running = (pod: Pod) => pod.status?.phase === 'Running';

test('a container of an ordinary image runs, says what it says and ends as it ends', { skip }, async (t) => {
  const { node, kubelet } = await nativeNode(t);
  await node.run('hello', { containers: [busybox('id -u; hostname; echo hello; exit 7')] });
  const pod = await node.when('hello', (each) => each.status?.phase === 'Failed');
  assert.equal(await logOf(kubelet, pod), '0\nhello\nhello\n');
  assert.equal(terminated(pod)?.exitCode, 7);
});

test('entrypoint, command, user, variables and working directory are those of the image until the spec says otherwise', {
  skip,
}, async (t) => {
  const { node, kubelet } = await nativeNode(t);
  const config = {
    User: 'web',
    Entrypoint: ['/bin/sh', '-c'],
    Cmd: ['echo "$(id -u):$(id -g) $A $B $(pwd)"'],
    Env: ['A=image', 'B=image'],
    WorkingDir: '/tmp',
  };
  await addBusybox(join(node.dir, 'images'), { reference: 'localhost/tests/words', config });
  const image = 'localhost/tests/words';
  await node.run('image', { containers: [{ name: 'main', image }] });
  await node.run('spec', {
    securityContext: { runAsUser: 1234, runAsGroup: 99 },
    containers: [
      {
        name: 'main',
        image,
        args: ['echo $(id -u):$(id -g) $A $(B) $(pwd)'],
        env: [{ name: 'B', value: 'spec of $(A)' }],
        workingDir: '/etc',
      },
    ],
  });
  const said = await Promise.all(
    ['image', 'spec'].map(async (name) => logOf(kubelet, await node.when(name, (each) => each.status?.phase === 'Succeeded'))),
  );
  assert.deepEqual(said, ['101:102 image image /tmp\n', '1234:99 image spec of image /etc\n']);
});

test('a container writes to its own copy of the image, which the next run does not see', { skip }, async (t) => {
  const { node, kubelet } = await nativeNode(t);
  await node.run('writer', {
    restartPolicy: 'OnFailure',
    containers: [
      busybox('ls /made 2>/dev/null && exit 0; touch /made; [ -e /seen/once ] && exit 0; touch /seen/once; exit 1', {
        volumeMounts: [{ name: 'seen', mountPath: '/seen' }],
      }),
    ],
    volumes: [{ name: 'seen', emptyDir: {} }],
  });
  const pod = await node.when('writer', (each) => each.status?.phase === 'Succeeded');
  assert.equal(pod.status?.containerStatuses?.[0]?.restartCount, 1);
  assert.equal(await logOf(kubelet, pod), '');
});

test('two Pods listen on one port, each at its own address, also on ports that nobody declared', { skip }, async (t) => {
  const { node } = await nativeNode(t);
  const web = (name: string) => busybox(`mkdir /www; echo ${name} > /www/index.html; exec httpd -f -p 80 -h /www`);
  await node.run('one', { containers: [web('one')] });
  await node.run('two', { containers: [web('two')] });
  const pods = await Promise.all(['one', 'two'].map((name) => node.when(name, running)));
  const pages = await Promise.all(pods.map(({ status }) => page(`http://${status?.podIP}/`)));
  assert.deepEqual(pages, ['one\n', 'two\n']);
});

test('a container goes on when the kubelet is killed, is adopted, and its exit code is not lost', { skip }, async (t) => {
  const { node, start } = await nativeNode(t);
  await node.run('long', {
    containers: [
      busybox('touch /seen/begun; while [ ! -e /seen/stop ]; do sleep 0.05; done; exit 5', {
        volumeMounts: [{ name: 'seen', mountPath: '/seen' }],
      }),
    ],
    volumes: [{ name: 'seen', emptyDir: {} }],
  });
  const pod = await node.when('long', running);
  const seen = join(node.rootDir, 'pods', pod.metadata.uid ?? '', 'volumes/kubernetes.io~empty-dir/seen');
  await until(() => existsSync(join(seen, 'begun')), 'the container to begin');
  const before = processesOf(node.dir).map(({ pid }) => pid);
  await node.stop();
  start();
  await node.when('long', running);
  assert.deepEqual(
    processesOf(node.dir).map(({ pid }) => pid),
    before,
  );
  await node.stop();
  await writeFile(join(seen, 'stop'), '');
  await until(() => processesOf(node.dir).length < before.length, 'the container to end unseen');
  start();
  const ended = await node.when('long', (each) => each.status?.phase === 'Failed');
  assert.equal(terminated(ended)?.exitCode, 5);
  assert.equal(ended.status?.containerStatuses?.[0]?.restartCount, 0);
});

test('a container whose runtime was killed, with the network of its Pod, is ended before the next run', { skip }, async (t) => {
  const { node, start } = await nativeNode(t);
  await node.run('orphan', { restartPolicy: 'Always', containers: [busybox('sleep 1000')] });
  const pod = await node.when('orphan', running);
  const dir = join(node.rootDir, 'pods', pod.metadata.uid ?? '');
  const [before] = await someFirstProcess(dir);
  await node.stop();
  for (const each of processesOf(node.dir)) signalProcess(each, 'SIGKILL');
  assert.ok(before && isSameProcess(before), 'the container itself does not end with them');
  start();
  await until(() => firstProcessesOf(dir).some(({ process }) => process.pid !== before.pid), 'the next run');
  assert.equal(isSameProcess(before), false);
});

test('a deleted Pod leaves no process and no file', { skip }, async (t) => {
  const { node } = await nativeNode(t);
  await node.run('gone', {
    terminationGracePeriodSeconds: 1,
    containers: [busybox('trap "exit 0" TERM; (sleep 1000 &); while :; do sleep 0.1; done')],
  });
  const pod = await node.when('gone', running);
  const init = processesIn(node, pod);
  assert.ok(init.length > 0);
  await node.client.delete(PODS, { namespace: 'default', name: 'gone' });
  await node.gone('gone');
  assert.deepEqual(processesOf(node.dir), []);
  assert.deepEqual(
    init.filter((pid) => existsSync(`/proc/${pid}/exe`)),
    [],
  );
  assert.equal(existsSync(join(node.rootDir, 'pods', pod.metadata.uid ?? '')), false);
});

test('a Pod that asks for what containers cannot have stays Pending with the reason', { skip }, async (t) => {
  const { node } = await nativeNode(t);
  await node.run('rude', { hostNetwork: true, containers: [busybox('true')] });
  const pod = await node.when('rude', (each) => each.status?.containerStatuses?.[0]?.state?.waiting?.message !== undefined);
  assert.equal(pod.status?.phase, 'Pending');
  assert.match(pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '', /^hostNetwork is not offered/);
});

test('an image that is not there is said to be missing, and the Pod starts when it has come', { skip }, async (t) => {
  const { node } = await nativeNode(t);
  await node.run('late', { containers: [{ name: 'main', image: 'localhost/tests/late', command: ['true'] }] });
  await node.when('late', (each) => each.status?.containerStatuses?.[0]?.state?.waiting?.reason === 'ErrImagePull');
  await addBusybox(join(node.dir, 'images'), { reference: 'localhost/tests/late' });
  await node.when('late', (each) => each.status?.phase === 'Succeeded');
});

test('volumes are mounted where the spec says, with subPath, read-only where it says', { skip }, async (t) => {
  const { node, kubelet } = await nativeNode(t);
  await node.client.create(CONFIG_MAPS, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'words', namespace: 'default' },
    data: { greeting: 'hello' },
  });
  await node.run('mounts', {
    volumes: [
      { name: 'config', configMap: { name: 'words' } },
      { name: 'data', emptyDir: {} },
      { name: 'fields', downwardAPI: { items: [{ path: 'name', fieldRef: { fieldPath: 'metadata.name' } }] } },
    ],
    initContainers: [
      busybox('mkdir /data/inner; echo deep > /data/inner/file; ln -s / /data/way', {
        name: 'init',
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      }),
    ],
    containers: [
      busybox(
        'cat /etc/greeting /fields/name; echo; cat /inner/file; touch /ro/x 2>/dev/null || echo read-only; id -u > /data/inner/user && cat /inner/user',
        {
          securityContext: { runAsUser: 1000 },
          volumeMounts: [
            { name: 'config', mountPath: '/etc/greeting', subPath: 'greeting' },
            { name: 'fields', mountPath: '/fields' },
            { name: 'data', mountPath: '/inner', subPath: 'inner', readOnly: true },
            { name: 'data', mountPath: '/ro', readOnly: true },
            { name: 'data', mountPath: '/data' },
          ],
        },
      ),
    ],
  });
  const pod = await node.when('mounts', (each) => each.status?.phase === 'Succeeded' || each.status?.phase === 'Failed');
  assert.match(await logOf(kubelet, pod), /^hellomounts\ndeep\nread-only\n/);
});

test('a container sees a ConfigMap that changes while it runs', { skip }, async (t) => {
  const { node, kubelet } = await nativeNode(t);
  const words = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'words', namespace: 'default' }, data: { word: 'old' } } as const;
  await node.client.create(CONFIG_MAPS, words);
  await node.run('reader', {
    volumes: [{ name: 'config', configMap: { name: 'words' } }],
    containers: [
      busybox('cat /config/word; echo; until grep -q new /config/word; do sleep 0.05; done; cat /config/word; ls /config', {
        securityContext: { runAsUser: 1000 },
        volumeMounts: [{ name: 'config', mountPath: '/config' }],
      }),
    ],
  });
  const pod = await node.when('reader', running);
  await until(async () => (await logOf(kubelet, pod)) === 'old\n', 'the container to read');
  await node.client.patch(CONFIG_MAPS, { namespace: 'default', name: 'words' }, { data: { word: 'new\n', more: '' } });
  const dir = join(node.rootDir, 'pods', pod.metadata.uid ?? '');
  await refreshVolumes({ pod, dir, client: node.client, owner: ownerOfPod(dir, pod, whoWeMayBecome()) });
  const ended = await node.when('reader', (each) => each.status?.phase === 'Succeeded');
  assert.equal(await logOf(kubelet, ended), 'old\nnew\nmore\nword\n');
});

test('an exec probe runs in the container: its exit code counts, and one that hangs is ended', { skip }, async (t) => {
  const { node } = await nativeNode(t);
  const probe = (command: string, timeoutSeconds = 1) => ({
    readinessProbe: { exec: { command: ['sh', '-c', command] }, periodSeconds: 1, failureThreshold: 1, timeoutSeconds },
  });
  await node.run('probed', {
    containers: [
      busybox('exec sleep 1000', probe('[ -e /tmp/asked ] && exit 0; touch /tmp/asked; echo not yet >&2; exit 1', 60)),
      busybox('exec sleep 1000', { ...probe('exec sleep 500'), name: 'hangs' }),
    ],
  });
  const isReady = (pod: Pod, name: string) => pod.status?.containerStatuses?.find((each) => each.name === name)?.ready;
  const pod = await node.when('probed', (each) => isReady(each, 'main') === true);
  assert.equal(isReady(pod, 'hangs'), false);
  const told = async () => (await node.client.list(EVENTS, { namespace: 'default' })).items.map(({ message }) => message);
  for (const why of ['command timed out', 'command exited with 1: not yet'])
    await until(async () => (await told()).includes(`Readiness probe failed: ${why}`), `the event about "${why}"`);
});

test('a subPath that leads out of its volume through a link starts nothing', { skip }, async (t) => {
  const { node, kubelet } = await nativeNode(t);
  await node.run('escape', {
    volumes: [{ name: 'data', emptyDir: {} }],
    initContainers: [busybox('ln -s /etc /data/way', { name: 'init', volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
    containers: [busybox('ls /out', { volumeMounts: [{ name: 'data', mountPath: '/out', subPath: 'way' }] })],
  });
  const pod = await node.when('escape', (each) => each.status?.phase === 'Failed');
  assert.equal(await logOf(kubelet, pod), 'subPath way leads out of its volume\n');
});

test('a subPath makes no folder outside of its volume, and inside one that its container can use', { skip }, async (t) => {
  const { node, kubelet } = await nativeNode(t);
  const outside = join(node.dir, 'outside');
  await mkdir(outside);
  await chmod(outside, 0o777);
  const mounts = (subPath: string) => [{ name: 'data', mountPath: '/out', subPath }];
  await node.run('folders', {
    volumes: [{ name: 'data', emptyDir: {} }],
    initContainers: [busybox(`ln -s ${outside} /data/way`, { name: 'init', volumeMounts: [{ name: 'data', mountPath: '/data' }] })],
    containers: [
      busybox('echo mine > /out/file; ls -ld /out | cut -c 1-10; cat /out/file', { volumeMounts: mounts('new folder/-p/*/in it') }),
      ...['way/made', 'way/../way/made', 'way/a/b'].map((subPath, index) =>
        busybox('ls /out', { name: `escape-${index}`, volumeMounts: mounts(subPath) }),
      ),
    ],
  });
  const ended = (each: Pod) =>
    each.status?.containerStatuses?.every(({ name, state }) => name === 'escape-1' || state?.terminated) === true;
  const pod = await node.when('folders', ended);
  assert.equal(await logOf(kubelet, pod), 'drwxr-xr-x\nmine\n');
  const codes = pod.status?.containerStatuses?.map(({ state }) => state?.terminated?.exitCode);
  assert.deepEqual(codes, [0, 125, undefined, 125]);
  assert.deepEqual(readdirSync(outside), []);
});

test('a container sees its own processes alone, gains no rights and cannot reach the loopback of the host', { skip }, async (t) => {
  const { node, kubelet } = await nativeNode(t);
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await node.run('inside', {
    containers: [
      busybox(
        `ls /proc | grep -c '^[0-9]'; grep NoNewPrivs /proc/self/status; mount -t tmpfs x /tmp 2>/dev/null || echo no mount; unshare -U true 2>/dev/null || echo no namespace; nc -w 1 10.0.2.2 ${port} </dev/null || echo no loopback`,
      ),
    ],
  });
  const pod = await node.when('inside', (each) => each.status?.phase === 'Succeeded');
  assert.match(await logOf(kubelet, pod), /^[1-5]\nNoNewPrivs:\t1\nno mount\nno namespace\n(?:nc: .*\n)?no loopback\n$/);
});

test('a container gets no user namespace by clone either', {
  skip: skip || (process.arch !== 'x64' && 'the program is for x86_64'),
}, async (t) => {
  const { node } = await nativeNode(t);
  const path = join(node.dir, 'newuser');
  await writeFile(path, programOf('bf11000010 31f6 31d2 4d31d2 4d31c0 b838000000 0f05 f7d8 89c7 b83c000000 0f05'));
  const image = 'localhost/tests/newuser';
  await addBusybox(join(node.dir, 'images'), { reference: image, files: [{ name: 'bin/newuser', path, mode: 0o755 }] });
  await node.run('newuser', { containers: [{ name: 'main', image, command: ['newuser'] }] });
  const pod = await node.when('newuser', (each) => each.status?.phase === 'Failed');
  assert.equal(terminated(pod)?.exitCode, 1, 'EPERM, which is what the program ends with');
});

/** The smallest program of x86_64 with this code; the one above asks clone for CLONE_NEWUSER and ends with the number of the error. */
function programOf(code: string): Buffer {
  const text = Buffer.from(code.replaceAll(' ', ''), 'hex');
  const [base, headers] = [0x400000n, 120];
  const file = Buffer.alloc(headers);
  file.write('7f454c46020101', 'hex');
  for (const [at, value] of [
    [16, 2],
    [18, 62],
    [52, 64],
    [54, 56],
    [56, 1],
  ] as const)
    file.writeUInt16LE(value, at); // executable, x86_64, sizes, one segment
  for (const [at, value] of [
    [20, 1],
    [64, 1],
    [68, 5],
  ] as const)
    file.writeUInt32LE(value, at); // version; to load, to read and run
  const size = BigInt(headers + text.length);
  const longs = [
    [24, base + BigInt(headers)],
    [32, 64n],
    [80, base],
    [88, base],
    [96, size],
    [104, size],
    [112, 0x1000n],
  ] as const;
  for (const [at, value] of longs) file.writeBigUInt64LE(value, at); // where it begins, where the segment is described, and where it goes
  return Buffer.concat([file, text]);
}

async function someFirstProcess(dir: string): Promise<ProcessIdentity[]> {
  await until(() => firstProcessesOf(dir).length > 0, 'the container to begin');
  return firstProcessesOf(dir).map(({ process }) => process);
}

/** Every process in the network of this Pod. */
function processesIn(node: TestNode, pod: Pod): string[] {
  const { network } = JSON.parse(readFileSync(join(node.rootDir, 'pods', pod.metadata.uid ?? '', 'sandbox.json'), 'utf8')) as {
    network: string;
  };
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readlinkSync(`/proc/${pid}/ns/net`) === network;
    } catch {
      return false;
    }
  });
}

/** The text of a page, once somebody serves it. */
async function page(url: string): Promise<string> {
  let text: string | undefined;
  await until(async () => {
    text = await fetch(url).then(
      (response) => response.text(),
      () => undefined,
    );
    return text !== undefined;
  }, `${url} to answer`);
  return text ?? '';
}

test('a sidecar runs before and beside the others, and ends after them', { skip }, async (t) => {
  const { node } = await nativeNode(t);
  const mounts = { volumeMounts: [{ name: 'log', mountPath: '/log' }] };
  const note = (name: string, rest: string) =>
    `trap "echo ${name} ends >> /log/all; exit 0" TERM; echo ${name} starts >> /log/all; ${rest}`;
  const forever = 'while true; do sleep 0.05; done';
  await node.run('sided', {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 20,
    volumes: [{ name: 'log', emptyDir: {} }],
    initContainers: [
      busybox(note('side', forever), { ...mounts, name: 'side', restartPolicy: 'Always' }),
      busybox('until [ -s /log/all ]; do sleep 0.05; done; echo init >> /log/all', { ...mounts, name: 'init' }),
    ],
    containers: [busybox('echo main >> /log/all; until [ -e /log/stop ]; do sleep 0.05; done; echo main ends >> /log/all', mounts)],
  });
  const pod = await node.when(
    'sided',
    (each) => each.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
  );
  const side = pod.status?.initContainerStatuses?.find(({ name }) => name === 'side');
  assert.deepEqual([side?.ready, side?.started, pod.status?.phase], [true, true, 'Running']);
  const folder = join(node.rootDir, 'pods', pod.metadata.uid ?? '', 'volumes/kubernetes.io~empty-dir/log');
  await writeFile(join(folder, 'stop'), '');
  await node.when(
    'sided',
    (each) => each.status?.initContainerStatuses?.[0]?.state?.terminated !== undefined && each.status.phase === 'Succeeded',
  );
  assert.equal(readFileSync(join(folder, 'all'), 'utf8'), 'side starts\ninit\nmain\nmain ends\nside ends\n');
});

test('containers that share processes see each other, and what one leaves behind ends with it alone', { skip }, async (t) => {
  const { node, kubelet } = await nativeNode(t);
  const mounts = { volumeMounts: [{ name: 'seen', mountPath: '/seen' }] };
  const forever = 'while :; do sleep 0.1; done';
  await node.run('shared', {
    shareProcessNamespace: true,
    restartPolicy: 'Always',
    volumes: [{ name: 'seen', emptyDir: {} }],
    containers: [
      busybox(`[ -e /seen/pid ] || { (setsid sleep 4321 &); echo $$$$ > /seen/pid; }; ${forever}`, mounts),
      busybox(
        'until [ -s /seen/pid ] && ps | grep -q "[s]leep 4321"; do sleep 0.05; done; ls /proc/1/root/ 2>&1; kill $(cat /seen/pid); while ps | grep -q "[s]leep 4321"; do sleep 0.05; done; echo ended; exec sleep 1000',
        { ...mounts, name: 'other' },
      ),
    ],
  });
  const again = await node.when('shared', ({ status }) => status?.containerStatuses?.some((each) => each.restartCount === 1) ?? false);
  assert.deepEqual(
    again.status?.containerStatuses?.map(({ name, restartCount }) => [name, restartCount]),
    [
      ['main', 1],
      ['other', 0],
    ],
  );
  await until(async () => (await logOf(kubelet, again, 'other')).endsWith('ended\n'), 'what was left behind to end');
  assert.match(await logOf(kubelet, again, 'other'), /Permission denied/);
  await node.client.delete(PODS, { namespace: 'default', name: 'shared' }, { gracePeriodSeconds: 1 });
  await node.gone('shared');
  assert.deepEqual(processesOf(node.dir), []);
});

test('what a container left among shared processes ends before its next run, also when its runtime was killed', { skip }, async (t) => {
  const { node, start } = await nativeNode(t);
  await node.run('shared', {
    shareProcessNamespace: true,
    restartPolicy: 'Always',
    containers: [busybox('(setsid sleep 5432 &); exec sleep 1000')],
  });
  const pod = await node.when('shared', running);
  const dir = join(node.rootDir, 'pods', pod.metadata.uid ?? '');
  const left = () => processesIn(node, pod).filter((pid) => commandOf(pid) === 'sleep\x005432\0');
  await until(() => left().length === 1, 'what is left behind');
  const before = left();
  await node.stop();
  for (const each of findByVariable(SANDBOX_VARIABLE, (value) => value === join(dir, 'root/main'))) signalProcess(each, 'SIGKILL');
  assert.deepEqual(left(), before, 'it does not end with the runtime');
  start();
  await until(() => left().length === 1 && left()[0] !== before[0], 'the next run alone');
});

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // ended
  }
}

test('hooks run after the start and before the end; one that fails ends the container', { skip }, async (t) => {
  const { node } = await nativeNode(t);
  const mounts = { volumeMounts: [{ name: 'log', mountPath: '/log' }] };
  const exec = (script: string) => ({ exec: { command: ['sh', '-c', script] } });
  await node.run('hooked', {
    volumes: [{ name: 'log', emptyDir: {} }],
    containers: [
      busybox('trap "echo term >> /log/all; exit 0" TERM; while true; do sleep 0.05; done', {
        ...mounts,
        lifecycle: { postStart: exec('echo started >> /log/all'), preStop: exec('echo stopping >> /log/all') },
      }),
    ],
  });
  await node.run('broken', { containers: [busybox('exec sleep 1000', { lifecycle: { postStart: exec('echo no >&2; exit 3') } })] });
  const broken = await node.when('broken', (each) => each.status?.phase === 'Failed');
  assert.equal(terminated(broken)?.exitCode, 137);
  const told = async () => (await node.client.list(EVENTS, { namespace: 'default' })).items.map(({ message }) => message);
  await until(async () => (await told()).includes('PostStartHook failed: command exited with 3: no'), 'the event');
  const pod = await node.when('hooked', (each) => each.status?.containerStatuses?.[0]?.ready === true);
  const folder = join(node.rootDir, 'pods', pod.metadata.uid ?? '', 'volumes/kubernetes.io~empty-dir/log');
  const kept = join(node.dir, 'kept');
  await link(join(folder, 'all'), kept); // the folder of the Pod goes with it
  await node.client.delete(PODS, { namespace: 'default', name: 'hooked' }, { gracePeriodSeconds: 10 });
  await node.gone('hooked');
  assert.equal(readFileSync(kept, 'utf8'), 'started\nstopping\nterm\n');
});

test('one that forks without end is stopped by the kernel, and leaves processes to the others', { skip }, async (t) => {
  const { node, kubelet } = await nativeNode(t);
  const script = 'ulimit -u; ulimit -u 40; for i in $(seq 100); do sleep 30 & done; echo done';
  await node.run('bomb', { containers: [busybox(script)] });
  const ended = await node.when('bomb', (pod) => terminated(pod) !== undefined);
  assert.match(await logOf(kubelet, ended), /^\d+\n(?:.*\n)*.*can't fork: Resource temporarily unavailable/);
  await node.run('other', { containers: [busybox('for i in 1 2 3; do true & done; wait; echo fine')] });
  const other = await node.when('other', (pod) => terminated(pod) !== undefined);
  assert.equal(await logOf(kubelet, other), 'fine\n');
});

test('one that takes more memory than its limit ends as OOMKilled; programs that are started in it are held to it, too', {
  skip: skip || whyNoLimits,
}, async (t) => {
  const { node } = await nativeNode(t);
  const resources = { limits: { cpu: '500m', memory: '32Mi' } };
  await node.run('eater', { containers: [busybox('exec tail /dev/zero', { resources })] });
  await node.run('host', {
    containers: [
      busybox('exec sleep 1000', { resources, readinessProbe: { exec: { command: ['tail', '/dev/zero'] }, timeoutSeconds: 10 } }),
    ],
  });
  const eater = await node.when('eater', (pod) => terminated(pod) !== undefined);
  assert.deepEqual([terminated(eater)?.reason, terminated(eater)?.exitCode], ['OOMKilled', 137]);
  const host = await node.when('host', (pod) => pod.status?.phase === 'Running');
  const folders = cgroupsOf(node.rootDir, host.metadata.uid ?? '');
  const read = (controller: string, file: string) =>
    readFileSync(join(folders.find((each) => each.includes(controller)) ?? '', file), 'utf8').trim();
  if (folders.length > 1)
    assert.deepEqual(
      [read('memory', 'memory.limit_in_bytes'), read('/cpu/', 'cpu.cfs_quota_us'), read('pids', 'pids.max')],
      [`${32 * 2 ** 20}`, '50000', `${processLimit()}`],
    );
  else assert.deepEqual([read('', 'memory.max'), read('', 'cpu.max')], [`${32 * 2 ** 20}`, '50000 100000']);
  await until(async () => ranOutOfMemory(folders), 'the kernel to end the probe');
  for (const name of ['eater', 'host']) await node.client.delete(PODS, { namespace: 'default', name }, { gracePeriodSeconds: 0 });
  for (const name of ['eater', 'host']) await node.gone(name);
  await until(async () => !folders.some((each) => existsSync(dirname(each))), 'nothing of them to be left');
});
