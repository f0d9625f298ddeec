/** What is done with disks, beside plain programs on the same machine. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureExport } from './disks/export.ts';
import { measureHotplug } from './disks/hotplug.ts';
import { measureImport } from './disks/import.ts';
import { measureMemory } from './disks/memory.ts';
import type { DiskBenchOptions, DiskRow } from './disks/row.ts';
import { measureSnapshots } from './disks/snapshots.ts';
import { occasion } from './figures.ts';

const PARTS: Readonly<Record<string, (options: DiskBenchOptions) => Promise<DiskRow[]>>> = {
  import: measureImport,
  snapshots: measureSnapshots,
  hotplug: measureHotplug,
  export: measureExport,
  memory: measureMemory,
};

export async function benchmark(args: readonly string[]): Promise<void> {
  const { rounds, only } = parseArgs({
    args: [...args],
    options: { rounds: { type: 'string', default: '3' }, only: { type: 'string', multiple: true } },
  }).values;
  const at = mkdtempSync(join(tmpdir(), 'kubevirt-ts-disks-'));
  const rows: DiskRow[] = [];
  try {
    for (const [name, measure] of Object.entries(PARTS).filter(([name]) => !only || only.includes(name))) {
      const folder = join(at, name);
      mkdirSync(folder);
      rows.push(...(await measure({ folder, rounds: Number(rounds) })));
      rmSync(folder, { recursive: true, force: true });
    }
  } finally {
    rmSync(at, { recursive: true, force: true });
  }
  const { machine, load, date } = occasion();
  console.log(`disks, ${machine}, load ${load}`);
  for (const { name, ours, beside, unit, aim } of rows)
    console.log(
      `  ${name.padEnd(72)} ${Math.round(ours)} ${unit}${beside ? `; ${beside.name} ${Math.round(beside.value)}` : ''}${aim ? ` (aim: ${aim})` : ''}`,
    );
  console.log(JSON.stringify({ benchmark: 'disks', rows, machine, load, date }));
}
