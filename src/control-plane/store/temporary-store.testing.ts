/** Stores in temporary folders, for tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore, type Store, type StoreOptions } from './store.ts';

export type TemporaryStore = { readonly path: string; readonly store: Store; close(): void };

/** An empty store; `close` removes its folder. */
export function temporaryStore(options: Partial<StoreOptions> = {}): TemporaryStore {
  const folder = mkdtempSync(join(tmpdir(), 'store-'));
  const path = join(folder, 'store.db');
  const store = openStore({ path, ...options });
  return {
    path,
    store,
    close() {
      store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
