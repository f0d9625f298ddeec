import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod, PodSpec } from '../../../api/core/pod.ts';
import { type ConfigOptions, ociConfigOf } from './oci-config.ts';
import { whyNotNative } from './why-not-native.ts';

type Config = {
  readonly process: {
    readonly capabilities: { readonly effective: string[]; readonly bounding: string[] };
    readonly noNewPrivileges: boolean;
  };
  readonly root: { readonly readonly: boolean };
  readonly linux: { readonly uidMappings?: unknown; readonly seccomp?: unknown };
};

const podOf = (spec: Partial<PodSpec> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [], ...spec },
});

function configOf(container: Partial<Container>, more: Partial<ConfigOptions> = {}): Config {
  return ociConfigOf({
    pod: podOf(),
    container: { name: 'main', ...container },
    image: {},
    user: { uid: 0, gid: 0, groups: [] },
    args: ['sh'],
    env: {},
    hostname: 'p',
    mounts: [],
    holderPid: 1,
    hasOneUser: false,
    maxProcesses: 4096,
    ...more,
  }) as Config;
}

test('a container that drops ALL has no capability but those it adds', () => {
  const { capabilities } = configOf({ securityContext: { capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } } }).process;
  assert.deepEqual(capabilities.bounding, ['CAP_NET_BIND_SERVICE']);
  assert.deepEqual(configOf({ securityContext: { capabilities: { drop: ['ALL'] } } }).process.capabilities.effective, []);
});

test('a user that is not root has no capability', () => {
  assert.deepEqual(configOf({}, { user: { uid: 1000, gid: 1000, groups: [] } }).process.capabilities.effective, []);
});

test('no container gains rights, and its system calls are filtered unless it says otherwise', () => {
  assert.equal(configOf({ securityContext: { allowPrivilegeEscalation: true } }).process.noNewPrivileges, true);
  assert.notEqual(configOf({}).linux.seccomp, undefined);
  assert.equal(configOf({ securityContext: { seccompProfile: { type: 'Unconfined' } } }).linux.seccomp, undefined);
});

test('where there is one user, another one is made of it', () => {
  const user = { uid: 101, gid: 102, groups: [] };
  assert.deepEqual(configOf({}, { user, hasOneUser: true }).linux.uidMappings, [{ containerID: 101, hostID: 0, size: 1 }]);
  assert.equal(configOf({}, { user }).linux.uidMappings, undefined);
});

test('what containers cannot have is named', () => {
  const reasons = [
    podOf({ hostPID: true }),
    podOf({ containers: [{ name: 'a', securityContext: { privileged: true } }] }),
    podOf({ containers: [{ name: 'a', securityContext: { capabilities: { add: ['SYS_ADMIN', 'CHOWN'] } } }] }),
    podOf({ containers: [{ name: 'a', ports: [{ containerPort: 80, hostPort: 80 }] }] }),
    podOf({ containers: [{ name: 'a' }] }),
  ].map((pod) => whyNotNative(pod)?.split(/ (?:is|are) not/)[0]);
  assert.deepEqual(reasons, ['hostPID', 'privileged containers', 'capabilities SYS_ADMIN', 'host ports', undefined]);
});
