/**
 * The same load on our API server and on a real kube-apiserver with etcd, each as a process of its own, over TLS, with durable writes:
 * creating, reading, listing 10,000 objects, telling watchers, 50 clients that update, the way to ready, and memory.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '../../src/base/errors.ts';
import { cacheFolder } from '../../src/base/node/folders.ts';
import { loadKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { NODE_FLAGS } from '../../src/virtctl/embedded/launch.ts';
import { RealApiServer } from '../../tools/kubernetes/api-server.ts';
import { type Figures, measure } from './apiserver-load.ts';

const PROGRAM = join(import.meta.dirname, 'api-server-process.ts');

export async function benchmark(): Promise<void> {
  const ours = await measureOurs();
  const real = await measureReal().catch((error: unknown) => {
    console.error(`the real API server could not be measured: ${messageOf(error)}`); // our own figures are worth having without it
    return undefined;
  });
  const rows: [string, keyof Figures, string][] = [
    ['creates per second, 32 clients', 'createsPerSecond', ''],
    ['gets per second, 32 clients', 'getsPerSecond', ''],
    ['updates per second, 50 clients', 'updatesPerSecond', ''],
    ['list of 10,000', 'listMs', ' ms'],
    ['watch, 1 watcher, p50', 'watch1P50Ms', ' ms'],
    ['watch, 1 watcher, p99', 'watch1P99Ms', ' ms'],
    ['watch, 100 watchers, p50', 'watch100P50Ms', ' ms'],
    ['watch, 100 watchers, p99', 'watch100P99Ms', ' ms'],
    ['get among 100', 'getSmallMs', ' ms'],
    ['get among 10,000', 'getLargeMs', ' ms'],
    ['update among 100', 'putSmallMs', ' ms'],
    ['update among 10,000', 'putLargeMs', ' ms'],
    ['page of 50 among 100', 'pageSmallMs', ' ms'],
    ['page of 50 among 10,000', 'pageLargeMs', ' ms'],
    ['start to ready', 'readyMs', ' ms'],
    ['resident, empty', 'emptyMiB', ' MiB'],
    ['resident, 10,000 objects', 'fullMiB', ' MiB'],
  ];
  for (const [name, key, unit] of rows) {
    const compared = real ? `   real ${String(real[key]).padStart(7)}${unit}   x ${ratio(ours[key], real[key])}` : '';
    console.log(`${name.padEnd(34)}${String(ours[key]).padStart(8)}${unit}${compared}`);
  }
  const ratios = real && Object.fromEntries(rows.map(([, key]) => [key, ratio(ours[key], real[key])]));
  const machine = `${cpus().length} CPU, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  console.log(JSON.stringify({ benchmark: 'apiserver', date: new Date().toISOString().slice(0, 10), machine, ours, real, ratios }));
}

async function measureOurs(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-apiserver-'));
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...NODE_FLAGS, PROGRAM, folder], { stdio: ['ignore', 'pipe', 'inherit'], env: warmEnv() });
  try {
    await once(child.stdout, 'data');
    const readyMs = performance.now() - startedAt;
    return await measure({ cluster: loadKubeconfig(join(folder, 'kubeconfig')), readyMs, residentMiB: () => residentMiB(child.pid) });
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
}

/** As bin/virtctl starts the embedded cluster: with code that is compiled already, in the same place. */
function warmEnv(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_COMPILE_CACHE: join(cacheFolder(), 'compile') };
}

/** Undefined on a machine where nobody has built one yet: that takes many minutes. */
async function measureReal(): Promise<Figures | undefined> {
  if (!existsSync(join(cacheFolder(), 'kubernetes'))) return undefined;
  const startedAt = performance.now();
  await using server = await RealApiServer.start({ isDurable: true });
  const readyMs = performance.now() - startedAt;
  return await measure({ cluster: server.cluster, readyMs, residentMiB: () => server.residentMiB() }); // awaited here: the server goes when we leave
}

function residentMiB(pid: number | undefined): number {
  const kib = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 1024);
}

function ratio(ours: number, real: number): number {
  return Number((ours / real).toFixed(2));
}
