/** Brings a disk or an image from this machine, from an address or from a registry into the embedded cluster. */
import { UserError } from '../../../../base/errors.ts';
import { normaliseReference } from '../../../../base/image-reference.ts';
import { readUserCatalogue } from '../../../../images/catalogue/catalogue.ts';
import { whyNoAddress } from '../../../../images/catalogue/parse-catalogue.ts';
import { openDownloadCache } from '../../../../images/import/download-cache.ts';
import { importUrl, parseDigest } from '../../../../images/import/import-url.ts';
import { importImage } from '../../../../images/import-file.ts';
import { openImageStore } from '../../../../images/store.ts';
import type { Deps } from '../../../deps.ts';
import { importProgress } from '../../../images/import-progress.ts';
import { pullNamed } from '../../../images/pull-named.ts';
import { progressOf, untilInterrupted } from '../interruptible.ts';
import { storeFolder } from '../store-folder.ts';

type ImportFlags = { readonly digest?: string };
type Work = { readonly signal: AbortSignal; readonly update: (text: string) => void };

export async function run(deps: Deps, flags: ImportFlags, source: string, name: string): Promise<void> {
  const reference = normaliseReference(name);
  const digest = flags.digest === undefined ? undefined : parseDigest(flags.digest);
  const isAddress = /^https?:\/\//.test(source);
  const [, image] = /^(?:oci|docker):\/\/(.+)$/.exec(source) ?? [];
  if (!isAddress && digest)
    throw new UserError('USAGE', '--digest is for what comes from an address', {
      why:
        image === undefined
          ? `${source} is a file of this machine`
          : `of an image it is part of the name: ${source.split('@')[0]}@sha256:HEX`,
      exitCode: 2,
    });
  openImageStore(storeFolder(deps));
  await untilInterrupted(deps, `${reference} was imported`, (signal) =>
    progressOf(deps).step('import', async ({ update }) => {
      if (image !== undefined) await fromRegistry(deps, image, reference, { signal, update });
      else if (isAddress) await fromAddress(deps, { url: source, digest }, reference, { signal, update });
      else await fromFile(deps, source, reference, { signal, update });
      return reference;
    }),
  );
  const stored = openImageStore(storeFolder(deps)).resolve(reference)?.digest ?? '';
  deps.stdout.write(`${reference} imported, ${stored.slice(7, 19)}\n`);
}

/** It is in the store under its own name, too, as after a pull. */
async function fromRegistry(deps: Deps, image: string, reference: string, work: Work): Promise<void> {
  const storeDir = storeFolder(deps);
  await pullNamed(deps, { storeDir, reference: image, ...work });
  openImageStore(storeDir).tag(image, reference);
}

async function fromFile(deps: Deps, path: string, reference: string, { signal, update }: Work): Promise<void> {
  const { onStage } = importProgress(deps.clock, update);
  const notes: string[] = [];
  const onNote = (note: string) => void notes.push(note);
  await importImage({ storeDir: storeFolder(deps), path, reference, searchPath: deps.env['PATH'], signal, onStage, onNote });
  for (const note of notes) deps.stderr.write(`virtctl: ${note}\n`);
}

async function fromAddress(deps: Deps, source: { url: string; digest: string | undefined }, reference: string, work: Work): Promise<void> {
  const why = whyNoAddress(source.url);
  if (why) throw new UserError('USAGE', `${source.url} cannot be the address of a disk`, { why: `it ${why}`, exitCode: 2 });
  const { home, cache, clock, env, stderr } = deps;
  const downloads = openDownloadCache({ cache, clock, maxBytes: readUserCatalogue(home).cacheBytes });
  const { onDownload, onStage, onWaiting } = importProgress(clock, work.update);
  const notes: string[] = [];
  await importUrl({
    ...{ source, downloads, storeDir: storeFolder(deps), searchPath: env['PATH'], compression: 'gzip', signal: work.signal },
    ...{ onDownload, onStage, onWaiting, onNote: (note) => notes.push(note), nameFor: () => reference, isReplaced: true },
  });
  for (const note of notes) stderr.write(`virtctl: ${source.url}: ${note}\n`);
}
