/** A real cluster with the product in it, from images that are built here, and the demo guest. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buildImages } from '../../tools/image/build-images.ts';
import { writeArchive } from '../../tools/image/oci-archive.ts';
import { type ClusterOptions, RealCluster } from '../../tools/kubernetes/cluster.ts';
import { ConsoleSession, type Result, run } from '../e2e/harness.ts';
import { buildGuest } from './push-images.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const REGISTRY = 'images.local/kubevirt-ts';
export const VMCTL_IMAGE = `${REGISTRY}/vmctl:test`;
/** Of every component that lives as long as the installation. */
export const COMPONENT_IMAGE = `${REGISTRY}/kubevirt:test`;
export const GUEST_IMAGE = 'images.local/guests/tiny:1';

/** As `virtctl install` is told. */
export const IMAGES = ['--registry', REGISTRY, '--tag', 'test'] as const;

/** Resolves when every component is ready. */
export async function startProductCluster(options: Omit<ClusterOptions, 'images'>): Promise<RealCluster> {
  const cluster = await startClusterWithImages(options);
  const { code, stderr } = await virtctl(cluster.kubeconfig, 'install', ...IMAGES);
  if (code === 0) return cluster;
  await cluster[Symbol.asyncDispose]();
  throw new Error(`virtctl install fails: ${stderr}`);
}

/** A cluster whose nodes have our images, and nothing of us in it. */
export async function startClusterWithImages({ nodes = 1, ...options }: Omit<ClusterOptions, 'images'>): Promise<RealCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-images-'));
  try {
    const images = await buildImages({ registry: REGISTRY, tag: 'test', into: folder });
    const guest = join(folder, 'guest.tar');
    await writeArchive(buildGuest(), { reference: GUEST_IMAGE, archive: guest });
    return await RealCluster.start({ ...options, nodes, images: [...images.map(({ archive }) => archive), guest] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function virtctl(kubeconfig: string, ...args: string[]): Promise<Result> {
  return run(join(PROJECT, 'bin/virtctl'), args, { env: { KUBECONFIG: kubeconfig, NO_COLOR: '1' }, timeoutMs: 500_000 });
}

/** A machine in namespace default that always runs. */
export function smallMachine(name: string): object {
  const domain = { memory: { guest: '128Mi' }, devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] } };
  const template = { spec: { domain, volumes: [{ name: 'root', containerDisk: { image: GUEST_IMAGE } }] } };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name, namespace: 'default' },
    spec: { runStrategy: 'Always', template },
  };
}

type Guest = { readonly namespace: string; readonly name: string };

/** A person who has logged in at the serial console of a machine. */
export async function logIn({ kubeconfig }: RealCluster, { namespace, name }: Guest): Promise<ConsoleSession> {
  const env = { ...process.env, KUBECONFIG: kubeconfig, NO_COLOR: '1' };
  const console = new ConsoleSession(spawn(join(PROJECT, 'bin/virtctl'), ['console', name, '-n', namespace], { env }));
  await console.login();
  return console;
}

/** What a command prints in a guest. Logs out again: the next one expects to be asked for a name. */
export async function runInGuest(cluster: RealCluster, guest: Guest, command: string): Promise<string> {
  await using console = await logIn(cluster, guest);
  const printed = await console.command(command);
  console.type('exit\n');
  await console.expect(/login: $/);
  return printed;
}
