import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { guestfsImageOf } from '../../api/kubevirt/guestfs.ts';
import { exitCodeIn } from './pod-shell.ts';
import { diskOf, shellFor, toolsPodFor, userOfClaim } from './tools-pod.ts';

function claim(volumeMode?: 'Block' | 'Filesystem'): PersistentVolumeClaim {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...(volumeMode && { volumeMode }) };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name: 'data', namespace: 'here' }, spec } as PersistentVolumeClaim;
}

test('the Pod has the files of the claim and is fit for a restricted namespace', () => {
  const { metadata, spec } = toolsPodFor({ claim: claim(), image: 'tools:1' });
  const [container] = spec.containers;
  assert.deepEqual([metadata.name, metadata.namespace, container?.image], ['libguestfs-tools-data', 'here', 'tools:1']);
  assert.deepEqual(container?.volumeMounts?.at(-1), { name: 'disk', mountPath: '/disk' });
  assert.deepEqual(spec.securityContext, {
    runAsUser: 107,
    runAsGroup: 107,
    runAsNonRoot: true,
    fsGroup: 107,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  assert.deepEqual(container?.securityContext, { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } });
  assert.equal(spec.automountServiceAccountToken, false);
});

test('a claim that is a device is one in the Pod, too', () => {
  const [container] = toolsPodFor({ claim: claim('Block'), image: 'tools:1' }).spec.containers;
  assert.deepEqual(container?.volumeDevices, [{ name: 'disk', devicePath: '/dev/vda' }]);
  assert.ok(!container?.volumeMounts?.some(({ name }) => name === 'disk'));
  assert.deepEqual([diskOf(claim('Block')), diskOf(claim())], ['/dev/vda', '/disk/disk.img']);
});

test('user, groups, root and KVM as asked for', () => {
  const asked = toolsPodFor({ claim: claim(), image: 'x', uid: 1, gid: 2, fsGroup: 3, hasKvm: true }).spec;
  const { runAsUser, runAsGroup, fsGroup } = asked.securityContext ?? {};
  assert.deepEqual(
    [runAsUser, runAsGroup, fsGroup, asked.containers[0]?.resources],
    [1, 2, 3, { limits: { 'devices.kubevirt.io/kvm': '1' } }],
  );
  const root = toolsPodFor({ claim: claim(), image: 'x', isRoot: true }).spec.securityContext;
  assert.deepEqual([root?.runAsUser, root?.runAsNonRoot], [0, undefined]);
});

test('whoever has the claim mounted is found, and who is done with it is not', () => {
  const pod = (name: string, claimName: string, phase: string) =>
    ({ metadata: { name }, spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] }, status: { phase } }) as unknown as Pod;
  assert.equal(
    userOfClaim([pod('other', 'else', 'Running'), pod('over', 'data', 'Succeeded'), pod('vm', 'data', 'Pending')], 'data'),
    'vm',
  );
  assert.equal(userOfClaim([pod('over', 'data', 'Failed')], 'data'), undefined);
});

test('a shell is there only for a disk that it can read', () => {
  assert.match(
    shellFor(claim()).at(-1) ?? '',
    /^if \[ -e \/disk\/disk\.img \] && \[ ! -r \/disk\/disk\.img \]; then exit 77; fi; exec sh$/,
  );
});

test('how a shell ended is read as Kubernetes says it', () => {
  const of = (status: object) => exitCodeIn(Buffer.from(JSON.stringify(status)));
  const failed = { status: 'Failure', reason: 'NonZeroExitCode', details: { causes: [{ reason: 'ExitCode', message: '77' }] } };
  assert.deepEqual([of({ status: 'Success' }), of(failed), exitCodeIn(Buffer.alloc(0))], [0, 77, 0]);
  assert.throws(() => of({ status: 'Failure', message: 'no such container' }), /the shell did not run: no such container/);
});

test('the image is the one that the installation names, as a whole or in parts', () => {
  assert.equal(guestfsImageOf({ gsImage: 'r/tools:2', registry: 'x', tag: 'y' }), 'r/tools:2');
  assert.equal(guestfsImageOf({ registry: 'r', tag: 'v1', imagePrefix: 'p-' }), 'r/p-libguestfs-tools:v1');
  assert.equal(guestfsImageOf({ registry: 'r', tag: 'v1', digest: 'sha256:1' }), 'r/libguestfs-tools@sha256:1');
  assert.equal(guestfsImageOf({}), undefined);
});
