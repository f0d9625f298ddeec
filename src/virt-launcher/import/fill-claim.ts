/**
 * Fills a PVC with a disk. It is written under another name, in a folder of its own on the PVC, and gets its name when it is whole and safe:
 * a disk that is there is a whole one, whenever we are killed. What was downloaded before that is gone on with. A disk that somebody else has put there
 * meanwhile is not touched, and not taken for ours: the folder has a link to what became the disk, and gets another name before it is removed.
 *
 *   from        how
 *   http        downloaded to the PVC, unpacked or converted there when it has to be, and then it is the disk, without a copy
 *   registry    copied from the image, which is mounted; or pulled to the PVC, where the cluster has no image volumes
 *   upload      received on the PVC, piece by piece, and then as with http
 *   pvc         copied from the other PVC, unless somebody writes there meanwhile; where the file system can share blocks, it does
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ImportProgress, ImportTask } from '../../api/importer/importer-pod.ts';
import type { Clock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { formatBytes } from '../../base/quantity.ts';
import type { Fetch } from '../../images/guarded-fetch.ts';
import { fileNameOf } from '../../images/import/download-cache.ts';
import { downloadFile } from '../../images/import/download-file.ts';
import { digestOfFile } from '../../images/import/file-digest.ts';
import { HALVES, plainDisk } from '../../images/import/import-disk.ts';
import { pullImage } from '../../images/pull.ts';
import { pullSources } from '../../images/pull-sources.ts';
import { openImageStore } from '../../images/store.ts';
import type { ImageFormat } from '../../qemu/convert/input.ts';
import { openContainerDisk } from '../container-disk.ts';
import { keptFormat } from '../disk-format.ts';
import { factsAs, readImageFacts } from '../image-format.ts';
import { CLAIM_DISK, linkDisk, syncFolder } from '../new-disk.ts';
import { openInRoot } from '../open-in-root.ts';
import { populateDisk } from '../populate-disk.ts';
import { growQcow2 } from '../qcow2.ts';

export type FillOptions = {
  readonly task: ImportTask;
  /** Where the PVC is. */
  readonly folder: string;
  /** Where the other PVC is mounted. */
  readonly sourceFolder?: string | undefined;
  /** The disk of the image that is mounted, open. */
  readonly mountedDisk?: OpenDisk | undefined;
  /** For the address. */
  readonly fetch: Fetch;
  /** Where programs are looked for. */
  readonly searchPath: string | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ImportProgress) => void;
  /** Told what is not as somebody may expect it. */
  readonly onNote?: (note: string) => void;
  /** Takes what somebody sends into the folder; what is whole is given to `finish`, which says why it is no disk by throwing. */
  readonly receive: (into: Incoming) => Promise<void>;
};

export type Incoming = {
  readonly folder: string;
  /** No more than this is taken. */
  readonly maxBytes: number;
  /** Resolves when the disk has its name. */
  readonly finish: (path: string, signal: AbortSignal) => Promise<void>;
};

export type OpenDisk = ReturnType<typeof openContainerDisk>;

/** On the PVC: a guest never sees it, and it is gone when the disk is there. */
const WORK_FOLDER = '.import';
/** The same, when the disk is there and has nothing to do with it any more. */
const DONE_FOLDER = '.imported';
/** In it: a copy on its way. */
const COPY = 'copy';
const MIB = 2 ** 20;

/** Resolves when the disk is there; a UserError, and no disk, when that cannot be. */
export async function fillClaim(options: FillOptions): Promise<void> {
  const { folder } = options;
  const [work, done] = [join(folder, WORK_FOLDER), join(folder, DONE_FOLDER)];
  rmSync(done, { recursive: true, force: true });
  if (!existsSync(join(folder, CLAIM_DISK))) {
    clearLinks(work);
    clearUnreadable(work);
    mkdirSync(work, { recursive: true, mode: 0o700 });
    await make(options, work);
  } else if (existsSync(work) && !isMadeIn(work, folder)) throw diskInTheWay();
  if (existsSync(work)) renameSync(work, done);
  rmSync(done, { recursive: true, force: true });
  syncFolder(folder);
}

/** The disk is one of the files in the folder. */
function isMadeIn(work: string, folder: string): boolean {
  const disk = lstatSync(join(folder, CLAIM_DISK));
  const found = readdirSync(work).map((name) => lstatSync(join(work, name)));
  return found.some(({ dev, ino }) => dev === disk.dev && ino === disk.ino);
}

function diskInTheWay(): UserError {
  return new UserError('DISK_IN_THE_WAY', 'somebody else has put a disk on the PVC while this one was made', {
    why: `${CLAIM_DISK} is there, and is not what was to be brought in`,
    fix: 'keep what is in it, if anything is; then delete the DataVolume (or the PVC), and make it again',
  });
}

/** Whoever else mounts the PVC as the same user could put links there, which lead to files that are theirs as little as ours. */
function clearLinks(work: string): void {
  const found = lstatSync(work, { throwIfNoEntry: false });
  if (found && !found.isDirectory()) rmSync(work, { force: true });
  else if (found)
    for (const each of readdirSync(work, { withFileTypes: true }))
      if (!each.isFile() && !each.isDirectory()) rmSync(join(work, each.name), { force: true });
}

/** Another Pod may have another user, who can do nothing with what the one before has left but remove it. */
function clearUnreadable(work: string): void {
  try {
    for (const name of existsSync(work) ? readdirSync(work) : []) accessSync(join(work, name), constants.R_OK | constants.W_OK);
  } catch {
    rmSync(work, { recursive: true, force: true });
  }
}

function make(options: FillOptions, work: string): Promise<void> {
  switch (options.task.from) {
    case 'http':
      return download(options, options.task, work);
    case 'registry':
      return takeImage(options, options.task, work);
    case 'upload':
      return options.receive({
        folder: work,
        maxBytes: roomFor(options.task.sizeBytes),
        finish: (path, signal) => becomeDisk({ ...options, signal }, { path, name: 'the file' }, work),
      });
    case 'pvc':
      return copyClaim(options, options.task, work);
  }
}

type Task<From extends ImportTask['from']> = Extract<ImportTask, { from: From }>;

async function download(options: FillOptions, { url, checksum, sizeBytes }: Task<'http'>, work: string): Promise<void> {
  const { fetch, clock, signal, onProgress } = options;
  const digest = checksum?.toLowerCase();
  const path = join(work, 'file');
  const isHere = existsSync(path) && (digest === undefined || (await digestOfFile(path, digest, signal)) === digest);
  if (!isHere) {
    rmSync(path, { force: true });
    await downloadFile({
      url,
      folder: work,
      isOnClaim: true,
      fetch,
      clock,
      signal,
      digest,
      maxBytes: roomFor(sizeBytes),
      onProgress: tell,
    });
  }
  await becomeDisk(options, { path, name: fileNameOf(url) }, work);

  function tell({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number | undefined }): void {
    onProgress({ doneBytes, ...(totalBytes !== undefined && { totalBytes }) });
  }
}

/** Unpacked or converted when it has to be. */
async function becomeDisk(options: FillOptions, file: { readonly path: string; readonly name: string }, work: string): Promise<void> {
  const { task, searchPath, signal, onNote } = options;
  for (const name of HALVES) rmSync(join(work, name), { force: true }); // of a try that was killed
  const limits = { dataBytes: roomFor(task.sizeBytes), sizeBytes: roomFor(task.sizeBytes) };
  adopt(await plainDisk({ ...file, searchPath, signal, limits, ...(onNote && { onNote }) }, work), options, file.name);
}

/** No file with such a disk is larger: tables of other formats are some percent, and some megabytes at least. */
function roomFor(sizeBytes: number): number {
  return Math.ceil((sizeBytes * 1.07) / MIB + 16) * MIB;
}

/** A file of ours on the PVC becomes its disk. */
function adopt(path: string, { folder, task }: FillOptions, name: string): void {
  const file = openSync(path, constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  let format: ImageFormat;
  try {
    const facts = readImageFacts(file, name);
    ({ format } = facts);
    if (facts.sizeBytes > task.sizeBytes)
      throw new UserError('DISK_TOO_SMALL', `${name} does not fit on its PVC`, {
        why: `it is a disk of ${formatBytes(facts.sizeBytes)}, the PVC has room for one of ${formatBytes(task.sizeBytes)}`,
        fix: 'make the DataVolume again with more storage',
      });
    if (format === 'qcow2') growQcow2(file, task.sizeBytes);
    else ftruncateSync(file, task.sizeBytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  if (!linkDisk({ folder, path, format })) throw diskInTheWay();
}

async function takeImage(options: FillOptions, { image }: Task<'registry'>, work: string): Promise<void> {
  const { file, ...facts } = options.mountedDisk ?? openContainerDisk(await pull(options, image, work));
  try {
    populate({ from: file, facts, image, folder: options.folder, sizeBytes: options.task.sizeBytes }, work);
  } finally {
    closeSync(file);
  }
}

function populate(copy: Omit<Parameters<typeof populateDisk>[0], 'unfinished'>, work: string): void {
  if (!populateDisk({ ...copy, unfinished: join(work, COPY) })) throw diskInTheWay();
}

/** Nobody's logins: those of a namespace are its kubelets'. */
async function pull({ signal, clock, onProgress }: FillOptions, image: string, work: string): Promise<string> {
  const dir = join(work, 'images');
  const sources = pullSources({ reference: image, mirrors: new Map(), findLogins: () => [], hasHostLoopback: false });
  const told = ({ doneBytes, allBytes }: { doneBytes: number; allBytes: number }) => onProgress({ doneBytes, totalBytes: allBytes });
  await pullImage({ dir, reference: image, sources, signal, clock, onProgress: told });
  return openImageStore(dir).unpacked(image, signal);
}

/** A PVC that no machine has used yet has no disk: its copy has none either, and gets its own with its first machine. */
async function copyClaim({ folder, sourceFolder = '', task }: FillOptions, { format }: Task<'pvc'>, work: string): Promise<void> {
  const declared = format === 'qcow2' || format === 'raw' ? format : undefined;
  const file = openDisk(sourceFolder);
  if (file === undefined) return;
  const before = stateOf(file);
  const check = () => {
    if (stateAt(sourceFolder) !== before)
      throw new UserError('SOURCE_CHANGED', 'the copy of the other PVC is not of one moment', {
        why: 'somebody wrote to it while it was copied',
        fix: 'stop the machine that uses it; it is tried again by itself',
      });
  };
  try {
    const facts = factsAs(keptFormat(sourceFolder, { declared, ofImage: undefined }), file, CLAIM_DISK);
    populate({ from: file, facts, image: 'of the other PVC', folder, sizeBytes: task.sizeBytes, check }, work);
  } finally {
    closeSync(file);
  }
}

/** Differs when another file is in the place of this one, or somebody wrote to it. */
function stateOf(file: number): string {
  const { dev, ino, size, mtimeNs } = fstatSync(file, { bigint: true });
  return [dev, ino, size, mtimeNs].join();
}

function stateAt(folder: string): string | undefined {
  const file = openDisk(folder);
  if (file === undefined) return undefined;
  try {
    return stateOf(file);
  } finally {
    closeSync(file);
  }
}

function openDisk(folder: string): number | undefined {
  try {
    return openInRoot(folder, CLAIM_DISK);
  } catch (error) {
    if (error instanceof UserError && error.code === 'IMAGE_FILE_MISSING') return undefined;
    throw error;
  }
}
