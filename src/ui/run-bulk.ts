/** Does one thing to many machines, a few at a time, until all are done or somebody says stop. */

export type BulkResult<T> = {
  /** How many were tried: with success or without. */
  readonly tried: number;
  readonly failures: readonly { readonly item: T; readonly message: string }[];
  /** Those that nothing was done to: it was stopped before. */
  readonly left: readonly T[];
};

type BulkRun<T> = {
  readonly items: readonly T[];
  /** More would keep the cluster from other things. */
  readonly atOnce: number;
  /** Nothing more is begun after it; what was begun is waited for, so that it is known how it ended. */
  readonly signal: AbortSignal;
  does(item: T): Promise<unknown>;
  onProgress(result: BulkResult<T>): void;
};

export async function runBulk<T>({ items, atOnce, signal, does, onProgress }: BulkRun<T>): Promise<BulkResult<T>> {
  const left = [...items];
  const failures: BulkResult<T>['failures'][number][] = [];
  let tried = 0;
  const result = (): BulkResult<T> => ({ tried, failures: [...failures], left: [...left] });
  const work = async () => {
    while (!signal.aborted) {
      const [item] = left.splice(0, 1);
      if (item === undefined) return;
      await does(item).catch((error: unknown) => {
        failures.push({ item, message: error instanceof Error ? error.message : String(error) });
      });
      tried += 1;
      onProgress(result());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return result();
}
