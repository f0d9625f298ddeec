/**
 * Keeps what was pulled below a limit. The image that nobody has used for longest goes first; never one that runs, that was used a moment ago,
 * or whose name was given here. When an image was last used is the time of its manifest's file.
 */
import { statSync } from 'node:fs';
import { blobPath, type Descriptor, NAME_ANNOTATION, PULLED_ANNOTATION, readIndex } from './layout.ts';
import { blobsOf, removeNames } from './store.ts';

type Cached = { readonly digest: string; readonly usedAtMs: number; readonly sizeBytes: number };

/** Somebody may have pulled it and not started yet. */
const FRESH_MS = 10 * 60_000;

/** Removes them; the digests of what is gone. */
export function pruneImages(options: {
  readonly dir: string;
  readonly maxBytes: number;
  readonly keep: ReadonlySet<string>;
  readonly now: number;
}): string[] {
  const { dir } = options;
  const pulled = readIndex(dir).filter(({ annotations }) => annotations?.[PULLED_ANNOTATION] !== undefined);
  const cached = [...new Set(pulled.map(({ digest }) => digest))].map((digest) => lookAt(dir, digest));
  const gone = chooseToRemove(cached, options);
  const names = pulled.filter(({ digest }) => gone.includes(digest)).map(nameOf);
  if (names.length > 0) removeNames(dir, new Set(names));
  return gone;
}

/** The digests to remove, oldest first, until the rest fits. */
export function chooseToRemove(
  cached: readonly Cached[],
  { maxBytes, keep, now }: { readonly maxBytes: number; readonly keep: ReadonlySet<string>; readonly now: number },
): string[] {
  let total = cached.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const removable = cached.filter(({ digest, usedAtMs }) => !keep.has(digest) && now - usedAtMs > FRESH_MS);
  const gone: string[] = [];
  for (const { digest, sizeBytes } of [...removable].sort((a, b) => a.usedAtMs - b.usedAtMs)) {
    if (total <= maxBytes) break;
    gone.push(digest);
    total -= sizeBytes;
  }
  return gone;
}

function lookAt(dir: string, digest: string): Cached {
  const sizeOf = (each: string) => statSync(blobPath(dir, each), { throwIfNoEntry: false })?.size ?? 0;
  const usedAtMs = statSync(blobPath(dir, digest), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return { digest, usedAtMs, sizeBytes: blobsOf(dir, digest).reduce((sum, each) => sum + sizeOf(each), 0) };
}

function nameOf({ annotations }: Descriptor): string {
  return annotations?.[NAME_ANNOTATION] ?? '';
}
