import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, PodSpec } from '../../../api/core/pod.ts';
import { whyNotNative } from './why-not-native.ts';

const pod = (spec: Partial<PodSpec>, container: Partial<Container> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [{ name: 'c', image: 'i', ...container }], ...spec },
});

const REFUSED: readonly [word: string, pod: Pod][] = [
  ['hostNetwork', pod({ hostNetwork: true })],
  ['hostPID', pod({ hostPID: true })],
  ['hostIPC', pod({ hostIPC: true })],
  ['privileged', pod({}, { securityContext: { privileged: true } })],
  ['volumeDevices', pod({}, { volumeDevices: [{ name: 'd', devicePath: '/dev/d' }] })],
  ['hostPath', pod({ volumes: [{ name: 'h', hostPath: { path: '/' } }] })],
  ['host ports', pod({}, { ports: [{ containerPort: 80, hostPort: 80 }] })],
  ['capabilities SYS_ADMIN', pod({}, { securityContext: { capabilities: { add: ['SYS_ADMIN'] } } })],
];

test('what containers cannot have is refused by its name', () => {
  for (const [word, asked] of REFUSED) assert.ok(whyNotNative(asked)?.startsWith(word), `${word}: ${whyNotNative(asked)}`);
});

test('an ordinary Pod can run, and one that says whether its containers share processes', () => {
  assert.deepEqual([pod({}), pod({ shareProcessNamespace: false }), pod({ shareProcessNamespace: true })].map(whyNotNative), [
    undefined,
    undefined,
    undefined,
  ]);
});

test('a debugger may trace processes of one container, never those of a Pod that shares them', () => {
  const ephemeral: Container = { name: 'd', image: 'i', securityContext: { capabilities: { add: ['SYS_PTRACE'] } } };
  const among = (spec: Partial<PodSpec>) => whyNotNative(pod({ ...spec, ephemeralContainers: [ephemeral], containers: [ephemeral] }));
  assert.equal(among({}), undefined);
  assert.match(
    among({ shareProcessNamespace: true }) ?? '',
    /^capabilities SYS_PTRACE are not offered: in a Pod with shareProcessNamespace /,
  );
});
