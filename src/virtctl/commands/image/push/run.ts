/** From a disk on this machine to a containerDisk in a registry, where the nodes of any cluster find it; no Docker and no cluster needed. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { importImage } from '../../../../images/import-file.ts';
import { type Descriptor, readIndex } from '../../../../images/layout.ts';
import { checkRegistry, pushImage } from '../../../../images/push.ts';
import { findLogin } from '../../../../images/registry-login.ts';
import type { Deps } from '../../../deps.ts';
import type { Progress } from '../../../progress.ts';
import { progressOf, untilInterrupted } from '../interruptible.ts';
import { storedImage } from './source.ts';
import { pushTarget } from './target.ts';

const MIB = 2 ** 20;

type Image = { readonly dir: string; readonly descriptor: Descriptor };
type Work = { readonly name: string; readonly progress: Progress; readonly signal: AbortSignal };

export async function run(deps: Deps, { plainHttp }: { plainHttp: boolean }, source: string, target: string): Promise<void> {
  const { name, ...to } = pushTarget(target, plainHttp);
  const stored = existsSync(source) ? undefined : storedImage(join(deps.home, 'images'), source);
  const login = findLogin(to.registry, deps.env);
  const progress = progressOf(deps);
  const digest = await untilInterrupted(deps, `${name} was pushed`, async (signal) => {
    await checkRegistry({ ...to, login, signal });
    const send = async ({ dir, descriptor }: Image) => {
      await progress.step('push', async ({ update }) => {
        await pushImage({ ...to, dir, descriptor, login, signal, onSent: (sent, all) => update(`${inMib(sent)} of ${inMib(all)} MiB`) });
        return name;
      });
      return descriptor.digest;
    };
    return stored ? send(stored) : withImageOf(source, { name, progress, signal }, send);
  });
  deps.stdout.write(`${name} pushed, ${digest.slice(7, 19)}\n`);
}

/** Makes an image from a file for as long as `use` takes; its layout is a folder that nobody else knows. */
async function withImageOf<T>(path: string, { name, progress, signal }: Work, use: (image: Image) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'virtctl-push-'));
  try {
    await progress.step('image', async ({ update }) => {
      update(`from ${basename(path)}`);
      const { digest } = await importImage({ storeDir: dir, path, reference: name, signal });
      return `${digest.slice(7, 19)} from ${basename(path)}`;
    });
    const [descriptor] = readIndex(dir);
    return await use({ dir, descriptor: descriptor! }); // the one that was just made
  } finally {
    // after an interruption something may still be writing there, which is tried again
    await rm(dir, { recursive: true, force: true, maxRetries: 5 });
  }
}

function inMib(bytes: number): number {
  return Math.ceil(bytes / MIB);
}
