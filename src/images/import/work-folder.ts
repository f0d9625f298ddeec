/** A folder of a store in which something is unpacked before it becomes an image. It goes with the work; those of processes that were killed go with the next one. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bootId, identify, isSameProcess } from '../../base/node/process-identity.ts';

const NAME = /^\.import-(\d+)-(\d+)-/;

/** In the store, so that it is the same file system and is closed to others. */
export async function withWorkFolder<T>(storeDir: string, work: (folder: string) => Promise<T>): Promise<T> {
  mkdirSync(storeDir, { recursive: true, mode: 0o700 });
  removeAbandoned(storeDir);
  const self = identify(process.pid);
  const folder = mkdtempSync(join(storeDir, `.import-${self?.pid}-${self?.startTime}-`));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function removeAbandoned(storeDir: string): void {
  for (const name of readdirSync(storeDir)) {
    const [, pid, startTime] = NAME.exec(name) ?? [];
    if (pid === undefined || startTime === undefined) continue;
    if (!isSameProcess({ pid: Number(pid), startTime, bootId: bootId() })) rmSync(join(storeDir, name), { recursive: true, force: true });
  }
}
