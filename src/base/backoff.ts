/** Exponential back-off: 2 tries apart by `firstMs`, each later gap twice the one before, never above `capMs`. */
export type Backoff = { readonly firstMs: number; readonly capMs: number };

/** How long to wait before try number `failures` + 1. */
export function backoffMs({ firstMs, capMs }: Backoff, failures: number): number {
  return Math.min(capMs, firstMs * 2 ** Math.max(0, failures - 1));
}
