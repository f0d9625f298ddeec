/** What a part of the benchmark of disks tells. */
export type DiskRow = {
  readonly name: string;
  readonly ours: number;
  /** What it is compared with; a plain program on the same machine in the same minute. */
  readonly beside?: { readonly name: string; readonly value: number };
  readonly unit: 'ms' | 'MiB/s';
  readonly aim?: string;
};
export type DiskBenchOptions = { readonly folder: string; readonly rounds: number };

/** How long it takes, in milliseconds. */
export async function timed(work: () => unknown): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}
