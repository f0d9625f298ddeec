/** What a cluster has on the machine outside its folder and its processes: a bridge, cables, routes and cgroups. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { UserError } from '../../src/base/errors.ts';
import { hostRoutes, isTaken, MAX_CLUSTERS, type NodePlan, type Plan, planCluster } from './plan.ts';

const CGROUPS = '/sys/fs/cgroup';
const CGROUP_PATIENCE_MS = 20_000;

export function ip(...args: string[]): string {
  return execFileSync('ip', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Takes the first number whose addresses are free, by making its bridge, which carries the cluster's folder as its alias. */
export function takeNumber(folder: string, nodeCount: number): Plan {
  const routes = ip('-4', 'route', 'show', 'table', 'all')
    .split('\n')
    .map((line) => line.replace(/^(?:local|broadcast|unicast) /, ''));
  for (let number = 0; number < MAX_CLUSTERS; number++) {
    const plan = planCluster(number, nodeCount);
    if (existsSync(`/sys/class/net/${plan.bridge}`) || isTaken(plan, routes)) continue;
    try {
      ip('link', 'add', plan.bridge, 'type', 'bridge');
    } catch (error) {
      if (/File exists/.test(String((error as { stderr?: string }).stderr))) continue; // somebody was quicker
      throw error;
    }
    ip('link', 'set', plan.bridge, 'alias', folder);
    return plan;
  }
  throw new UserError('CLUSTERS_TOO_MANY', `no addresses are left for another cluster`, {
    why: `all ${MAX_CLUSTERS} ranges (10.250.0.0/24, 10.224.0.0/16, 10.241.0.0/24 and so on) are in use`,
    fix: 'tools/kubernetes/down --name NAME for a cluster that is not needed',
  });
}

/** Addresses and routes that are there before the first node. */
export function bringUpBridge(plan: Plan): void {
  ip('address', 'add', plan.hostCidr, 'dev', plan.bridge);
  ip('link', 'set', plan.bridge, 'up');
  for (const route of hostRoutes(plan)) ip('route', 'add', ...route, 'dev', plan.bridge);
}

/** A cable from the bridge to the network namespace of this process, which sees it as eth0. */
export function plugIn(plan: Plan, node: NodePlan, pid: number): void {
  ip('link', 'add', node.link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid));
  ip('link', 'set', node.link, 'master', plan.bridge, 'up');
}

export function unplug(link: string): void {
  if (!existsSync(`/sys/class/net/${link}`)) return;
  try {
    ip('link', 'delete', link);
  } catch {
    // it went away with the node in this moment; the caller's check of /sys/class/net would say otherwise
  }
}

/** Numbers of the clusters that this folder has bridges of: normally one. */
export function numbersOf(folder: string): number[] {
  return bridges()
    .filter((bridge) => bridge.folder === folder)
    .map(({ number }) => number);
}

/** Every bridge of ours on this machine, with the folder of its cluster. */
export function bridges(): { readonly number: number; readonly folder: string }[] {
  return readdirSync('/sys/class/net')
    .filter((name) => /^kubets\d+$/.test(name))
    .map((name) => ({ number: Number(name.slice('kubets'.length)), folder: aliasOf(name) }));
}

function aliasOf(link: string): string {
  try {
    return readFileSync(`/sys/class/net/${link}/ifalias`, 'utf8').trim();
  } catch {
    return ''; // it has just gone
  }
}

/** Bridge and cables of one cluster; its routes go with them. */
export function removeLinks(number: number): void {
  const own = new RegExp(`^kubets${number}(n\\d+)?$`);
  for (const link of readdirSync('/sys/class/net').filter((name) => own.test(name))) unplug(link);
}

/** The folder of a node in every hierarchy; a new cpuset is empty and lets nobody run. */
export function makeCgroups(plan: Plan, node: NodePlan): void {
  for (const root of hierarchies()) {
    for (const folder of [join(root, plan.cgroup), join(root, plan.cgroup, node.name)]) {
      mkdirSync(folder, { recursive: true });
      for (const file of ['cpuset.cpus', 'cpuset.mems']) {
        const inherited = join(folder, '..', file);
        if (root.endsWith('cpuset') && existsSync(inherited)) writeFileSync(join(folder, file), readFileSync(inherited));
      }
    }
  }
}

/** Removes a cgroup with everything below it, once its processes are gone. */
export async function removeCgroups(path: string): Promise<void> {
  const deadline = systemClock.now() + CGROUP_PATIENCE_MS;
  for (const root of hierarchies()) {
    for (const folder of foldersBelow(join(root, path))) {
      for (;;) {
        try {
          rmdirSync(folder);
          break;
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code === 'ENOENT') break;
          if (systemClock.now() > deadline) throw error;
          await systemClock.sleep(20); // the kernel takes a moment to let go of the dead
        }
      }
    }
  }
}

/** With cgroup v1 one folder per controller, otherwise the one root. */
export function hierarchies(): string[] {
  if (existsSync(join(CGROUPS, 'cgroup.controllers'))) return [CGROUPS];
  return readdirSync(CGROUPS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => join(CGROUPS, name));
}

/** The deepest first, the folder itself last. */
function foldersBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const below = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [...below.flatMap(({ name }) => foldersBelow(join(folder, name))), folder];
}
