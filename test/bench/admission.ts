/**
 * What admission of one machine costs: 1,000 VirtualMachines are created on the real API server, in memory, with and without the webhooks
 * of virt-api, in turns in one run. CPU time is that of the whole process: API server, TLS both ways, virt-api and the rules.
 */

import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parse } from 'yaml';
import { startAdmissionWorld } from '../../src/virt-api/admission/admission-world.testing.ts';

const MACHINES = 1000;
const ROUNDS = 3;
const VMS = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';

export async function benchmark(): Promise<void> {
  const world = await startAdmissionWorld();
  const costs = { with: [] as number[], without: [] as number[] };
  try {
    const manifest = parse(readFileSync('examples/vm.yaml', 'utf8'));
    await createMachines(world, manifest, 'warm', 100);
    for (let round = 0; round < ROUNDS; round++) {
      costs.with.push(await createMachines(world, manifest, `with-${round}`, MACHINES, 'ada'));
      costs.without.push(await createMachines(world, manifest, `without-${round}`, MACHINES, 'system:apiserver'));
    }
  } finally {
    await world.close();
  }
  const [withMs, withoutMs] = [median(costs.with), median(costs.without)];
  const figures = {
    machines: MACHINES,
    cpuMsPerVm: round(withMs),
    cpuMsPerVmWithoutWebhooks: round(withoutMs),
    admissionCpuMsPerVm: round(withMs - withoutMs),
  };
  console.log(`admission of ${MACHINES} VirtualMachines, median of ${ROUNDS} rounds, ${cpus()[0]?.model ?? 'unknown CPU'}`);
  console.log(`  create with webhooks      ${figures.cpuMsPerVm} ms CPU each`);
  console.log(`  create without webhooks   ${figures.cpuMsPerVmWithoutWebhooks} ms CPU each`);
  console.log(`  admission itself          ${figures.admissionCpuMsPerVm} ms CPU each (promise: under 2)`);
  console.log(JSON.stringify({ benchmark: 'admission', ...figures }));
}

type World = Awaited<ReturnType<typeof startAdmissionWorld>>;

/** CPU milliseconds per machine. */
async function createMachines(world: World, manifest: { metadata: object }, prefix: string, count: number, user?: string): Promise<number> {
  const before = process.cpuUsage();
  for (let index = 0; index < count; index++) {
    const body = { ...manifest, metadata: { ...manifest.metadata, name: `${prefix}-${index}` } };
    const { status, body: answer } = await world.send('POST', VMS, body, user);
    if (status !== 201) throw new Error(answer.message);
  }
  const { user: userTime, system } = process.cpuUsage(before);
  return (userTime + system) / 1000 / count;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
