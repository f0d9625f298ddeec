/**
 * A guest whose words show whether it ever ran twice, and whether a write of it was lost: it counts, writes each number to a disk of its node alone
 * and to one that all nodes see, with fsync, and prints what both disks have when nothing of it is in memory.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { EmbeddedCluster } from '../../e2e/harness.ts';

export const NAME = 'mover';
const START = `
boot=$(cat /proc/sys/kernel/random/boot_id)
echo "found $boot $(head -c 6 /dev/vdd | tr -d '\\0') end" > /dev/ttyS0
(
  i=100000
  while :; do
    i=$((i+1))
    for disk in vdb vdd; do echo $i | dd of=/dev/$disk conv=fsync 2>/dev/null; done
    echo 3 > /proc/sys/vm/drop_caches
    echo "count $i $boot $(head -c 6 /dev/vdb) $(head -c 6 /dev/vdd) end" > /dev/ttyS0
    sleep 0.2
  done
) &`;
const LINE = /count (\d+) (\S+) (\d+) (\d+) end/g;

/** With the claim that outlives it. */
export function manifest(): string {
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: `${NAME}-shared` },
    spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '16Mi' } } },
  };
  const disk = (name: string) => ({ name, disk: { bus: 'virtio' } });
  const vm = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: NAME },
    spec: {
      runStrategy: 'Always',
      template: {
        metadata: { labels: { pace: 'slow' } },
        spec: {
          terminationGracePeriodSeconds: 0,
          domain: { memory: { guest: '128Mi' }, devices: { disks: ['root', 'data', 'seed', 'shared'].map(disk) } },
          volumes: [
            { name: 'root', containerDisk: { image: 'localhost/guests/tiny' } },
            { name: 'data', emptyDisk: { capacity: '16Mi' } },
            { name: 'seed', cloudInitNoCloud: { userData: `#!/bin/sh${START}\n` } },
            { name: 'shared', persistentVolumeClaim: { claimName: `${NAME}-shared` } },
          ],
        },
      },
    },
  };
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [claim, vm] });
}

export type Counted = { readonly count: number; readonly boot: string };

/** What it has said last, after everything that it has said was found to be right: each number once, in order, and on both disks. */
export async function readCount(cluster: EmbeddedCluster): Promise<Counted | undefined> {
  const { stdout } = await cluster.virtctl(['logs', NAME]);
  let last: Counted | undefined;
  for (const [line, number, boot = '', ...kept] of stdout.matchAll(LINE)) {
    const count = Number(number);
    assert.deepEqual(kept.map(Number), [count, count], `a write was lost: ${line}`);
    if (last?.boot === boot) assert.equal(count, last.count + 1, `the guest has run twice, or went back: ${line}`);
    last = { count, boot };
  }
  return last;
}

/** What the shared disk had when this boot began. */
export async function foundAtBoot(cluster: EmbeddedCluster, boot: string): Promise<number> {
  const { stdout } = await cluster.virtctl(['logs', NAME]);
  return Number(new RegExp(`found ${boot} (\\d+) end`).exec(stdout)?.[1] ?? Number.NaN);
}

/** The QEMUs of all guests, by the uid of their Pod; in a container of a real Kubernetes by their own number. */
export function qemus(cluster: EmbeddedCluster): Map<string, number> {
  const found = cluster.guestPids().flatMap((pid) => {
    const folder = linkOf(`/proc/${pid}/cwd`);
    const [, uid = String(pid)] = /\/pods\/([^/]+)\//.exec(folder) ?? [];
    return folder !== '' && textOf(`/proc/${pid}/comm`).startsWith('qemu-system') ? [[uid, pid] as const] : [];
  });
  return new Map(found);
}

/** The paths below the folders of all nodes. */
export function filesOfKubelets({ home }: EmbeddedCluster): readonly string[] {
  const nodes = readdirSync(home).filter((name) => /^kubelet(-\d+)?$/.test(name));
  return nodes.flatMap((node) => readdirSync(join(home, node), { recursive: true, encoding: 'utf8' }).map((path) => join(node, path)));
}

/** Whether a QEMU that waits for a guest is being given its memory. */
export function takesMemory(pid: number): boolean {
  return textOf(`/proc/${pid}/net/unix`)
    .split('\n')
    .some((line) => line.endsWith('incoming-memory.sock') && line.split(/\s+/)[5] === '03');
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // ended meanwhile
  }
}

function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // ended meanwhile
  }
}
