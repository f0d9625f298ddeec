/** kubectl of the same version as the cluster, and the Pods that tests put there. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { BUSYBOX_IMAGE } from '../../tools/kubernetes/image-store.ts';

const PATIENCE_MS = 420_000;

/** What it prints; an exception with what it complained about when it fails. */
export async function kubectl(cluster: RealCluster, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(join(cluster.programs, 'kubectl'), args, {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    timeout: PATIENCE_MS,
  });
  return stdout.trim();
}

export async function apply(cluster: RealCluster, ...objects: object[]): Promise<void> {
  const running = promisify(execFile)(join(cluster.programs, 'kubectl'), ['apply', '-f', '-'], {
    env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    timeout: PATIENCE_MS,
  });
  running.child.stdin?.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await running;
}

export function untilReady(cluster: RealCluster, ...names: string[]): Promise<string> {
  return kubectl(cluster, 'wait', '--for=condition=Ready', `--timeout=${PATIENCE_MS / 1000}s`, ...names.map((name) => `pod/${name}`));
}

/** Asks a web server from inside a Pod; the answer with its headers. */
export function askFromPod(cluster: RealCluster, pod: string, host: string): Promise<string> {
  return kubectl(cluster, 'exec', pod, '--', 'sh', '-c', `printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc -w 10 ${host} 80`);
}

/** A web server that says its own name. */
export function webPodSpec(name: string, more: object = {}): object {
  const script = `mkdir -p /tmp/www && echo "I am ${name}" >/tmp/www/index.html && echo started && exec httpd -f -p 80 -h /tmp/www`;
  const readinessProbe = { tcpSocket: { port: 80 }, periodSeconds: 1 };
  return {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'main', image: BUSYBOX_IMAGE, command: ['sh', '-c', script], ports: [{ containerPort: 80 }], readinessProbe }],
    ...more,
  };
}

export function webPod(name: string, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, labels: { app: name } }, spec: webPodSpec(name, more) };
}

/** A claim of the default class that Pods of several nodes may use at once. */
export function claim(name: string, more: object = {}): object {
  const spec = { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '8Mi' } }, ...more };
  return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec };
}

/** Not root, as launchers are not; a folder appears as /NAME, a device as /dev/NAME. */
export function podWithClaims(name: string, claims: Readonly<Record<string, 'Filesystem' | 'Block'>>, more: object = {}): object {
  const names = Object.keys(claims);
  const container = {
    name: 'main',
    image: BUSYBOX_IMAGE,
    volumeMounts: names.filter((each) => claims[each] === 'Filesystem').map((each) => ({ name: each, mountPath: `/${each}` })),
    volumeDevices: names.filter((each) => claims[each] === 'Block').map((each) => ({ name: each, devicePath: `/dev/${each}` })),
  };
  const spec = {
    terminationGracePeriodSeconds: 1,
    securityContext: { runAsUser: 107, runAsGroup: 107, fsGroup: 107 },
    containers: [container],
    volumes: names.map((each) => ({ name: each, persistentVolumeClaim: { claimName: each } })),
    ...more,
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
}
