import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { type Answers, status, testDeps } from '../../deps.testing.ts';
import type { PodShellTarget } from '../../deps.ts';
import { run } from './run.ts';

const PODS = '/api/v1/namespaces/default/pods';
const POD = `${PODS}/libguestfs-tools-data`;
const CLAIM = 'GET /api/v1/namespaces/default/persistentvolumeclaims/data';
const claim = { kind: 'PersistentVolumeClaim', metadata: { name: 'data', namespace: 'default' }, spec: {} };
const flags = { pullPolicy: 'IfNotPresent', kvm: false, root: false } as const;
const list = (...items: object[]) => ({ items, metadata: { resourceVersion: '1' } });

function world(more: Answers, exitCode = 0) {
  const stdin = new PassThrough();
  const opened: PodShellTarget[] = [];
  const typed: string[] = [];
  let wasEnded = false;
  const answers = {
    [CLAIM]: claim,
    [`GET ${PODS}`]: list(),
    [`POST ${PODS}`]: (sent: unknown) => sent as object,
    [`GET ${POD}`]: { metadata: { name: 'libguestfs-tools-data' }, status: { phase: 'Running' } },
    [`DELETE ${POD}`]: {},
    ...more,
  };
  const test = testDeps(answers, {
    stdin,
    openPodShell: async (target) => {
      opened.push(target);
      return {
        exitCode: () => exitCode,
        write: (bytes) => void typed.push(Buffer.from(bytes).toString()),
        end: () => {
          wasEnded = true;
        },
        resize: () => {},
        output: (async function* () {
          stdin.end('ls\n');
          while (!wasEnded) await new Promise((resolve) => setImmediate(resolve));
          yield Buffer.from('disk.img\n');
        })(),
      };
    },
  });
  const asked = () => test.requests.map(([request]) => request);
  return { ...test, opened, typed, asked };
}

test('a shell is opened in a Pod with the disk, and the Pod goes with it', async () => {
  const { deps, opened, typed, asked, stdout, requests } = world({});
  await run(deps, { ...flags, image: 'tools:1' }, 'data');
  assert.deepEqual([stdout(), typed], ['disk.img\n', ['ls\n']]);
  assert.deepEqual([opened[0]?.name, opened[0]?.container, opened[0]?.isTerminal], ['libguestfs-tools-data', 'libguestfs', false]);
  const sent = requests.find(([request]) => request === `POST ${PODS}`)?.[1] as { spec: { containers: { image: string }[] } };
  assert.equal(sent.spec.containers[0]?.image, 'tools:1');
  assert.equal(asked().at(-1), `DELETE ${POD}`);
});

test('the image is asked of the installation when none is given', async () => {
  const { deps, requests } = world({ 'GET /apis/subresources.kubevirt.io/v1/guestfs': { registry: 'r', tag: 'v1' } });
  await run(deps, flags, 'data');
  const sent = requests.find(([request]) => request === `POST ${PODS}`)?.[1] as { spec: { containers: { image: string }[] } };
  assert.equal(sent.spec.containers[0]?.image, 'r/libguestfs-tools:v1');
});

const using = { metadata: { name: 'virt-launcher-a' }, spec: { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] } };
const REFUSED: [name: string, answers: Answers, image: string | undefined, expected: RegExp][] = [
  ['a PVC that is not there', { [CLAIM]: status('NotFound', 'no') }, 'x', /there is no PVC "data" in namespace default/],
  ['a PVC that a machine uses', { [`GET ${PODS}`]: list(using) }, 'x', /the Pod virt-launcher-a uses PVC data/],
  ['an installation without an image', {}, undefined, /the installation names no image with tools for disks/],
];
for (const [name, answers, image, expected] of REFUSED)
  test(`${name} is told, and no Pod is made`, async () => {
    const { deps, asked } = world(answers);
    await assert.rejects(run(deps, { ...flags, ...(image && { image }) }, 'data'), expected);
    assert.ok(!asked().includes(`POST ${PODS}`));
  });

const hopeless = { state: { waiting: { reason: 'ErrImageNeverPull', message: 'not here' } } };
const FAILED: [name: string, pod: object, expected: RegExp][] = [
  ['a Pod that fails', { phase: 'Failed' }, /does not run/],
  ['an image that will never come', { phase: 'Pending', containerStatuses: [hopeless] }, /does not run/],
];
for (const [name, podStatus, expected] of FAILED)
  test(`${name} is told and removed`, async () => {
    const { deps, asked } = world({ [`GET ${POD}`]: { metadata: { name: 'x' }, status: podStatus } });
    await assert.rejects(run(deps, { ...flags, image: 'x' }, 'data'), expected);
    assert.equal(asked().at(-1), `DELETE ${POD}`);
  });

test('a disk that belongs to somebody else is told', async () => {
  const { deps, asked } = world({}, 77);
  await assert.rejects(run(deps, { ...flags, image: 'x' }, 'data'), /the disk of PVC data cannot be read by user 107/);
  assert.equal(asked().at(-1), `DELETE ${POD}`);
});

test('Ctrl+C while the Pod is awaited removes it', async () => {
  const waiting = { metadata: { name: 'x' }, status: { phase: 'Pending' } };
  const { deps, asked, signal } = world({
    [`GET ${POD}`]: () => {
      signal('SIGINT');
      return waiting;
    },
  });
  await assert.rejects(run(deps, { ...flags, image: 'x' }, 'data'), /interrupted before the shell was there/);
  assert.equal(asked().at(-1), `DELETE ${POD}`);
});
