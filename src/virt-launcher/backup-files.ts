/**
 * The files of a backup on a PVC: one qcow2 for each disk, and a note of what they are. They are made in a hidden folder, which gets its name when all of it
 * is on the disk: what has a name is whole, with all of its disks. A PVC may take backups of several machines at once, so each has a hidden folder of its own,
 * and nobody touches that of another which is written (sweep-parts.ts). One backup of a machine at a time: what is in its hidden folder is of a try that was killed. All of it is for the group
 * of the PVC, whose other Pods have other users.
 */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { BACKUP_NOTE, type BackupHead, backupFileOf } from '../api/launcher/backup.ts';
import { makeFolderForGroup, openForGroup } from './open-for-group.ts';
import { writeEmptyQcow2 } from './qcow2.ts';
import { sweepParts } from './sweep-parts.ts';

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
/** What a PVC has that is the disk of a machine. */
const DISK_FILE = 'disk.img';
const MIB = 2 ** 20;
/** Comes and goes, so that the folder is seen to change, at the time of its file system. */
const BEAT = '.beat';
/** What the tables of the files and the file system need besides. */
const OTHER_BYTES = 8 * MIB;

export class BackupFiles {
  readonly #root: string;
  readonly #head: BackupHead;
  /** Of this machine, from the root of the PVC; and in it that of this backup. */
  readonly #parts: string;
  readonly #part: string;

  /** Makes the empty files. Throws when the PVC cannot take them. */
  constructor(root: string, head: BackupHead) {
    this.#root = root;
    this.#head = head;
    const { folder, base, disks, bytes } = head;
    this.#parts = `.${dirname(folder)}.backup.part`;
    this.#part = join(this.#parts, basename(folder));
    rmSync(join(root, this.#parts), { force: true, recursive: true }); // of a try that was killed
    if (existsSync(join(root, DISK_FILE)))
      throw new Error('the PVC is the disk of a machine (it has disk.img): use one of its own for backups');
    if (lstatSync(join(root, folder), { throwIfNoEntry: false })) throw new Error(`the PVC has ${folder} already`);
    const parent = lstatSync(join(root, dirname(folder)), { throwIfNoEntry: false });
    if (parent && !parent.isDirectory()) throw new Error(`${dirname(folder)} on the PVC is not a folder: a link could lead anywhere`);
    try {
      makeFolderForGroup(join(root, this.#part));
      sweepParts(root, statSync(join(root, this.#part)).mtimeMs);
      mustFit(root, bytes);
      for (const { volume, bytes: size } of disks) {
        const file = backupFileOf(volume);
        make(join(root, this.#part, file), (to) => writeEmptyQcow2(to, size, base === undefined ? undefined : `../${base}/${file}`));
      }
    } catch (error) {
      this.giveUp(); // nobody else can: there is no object yet
      throw error;
    }
  }

  /** To be called every minute or so: what nobody changes is taken for left behind, and a backup that finds nothing to write may be a long one. */
  beat(): void {
    const path = join(this.#root, this.#part, BEAT);
    try {
      make(path, () => {});
      rmSync(path, { force: true });
    } catch {
      // the PVC is full, or this one was given up: whoever writes to it finds out
    }
  }

  /** Where the files are until they have their names, from the root of the PVC. */
  get paths(): string[] {
    return this.#head.disks.map(({ volume }) => join(this.#part, backupFileOf(volume)));
  }

  /** All of it is on the disk, under its name, when this returns. */
  finish(): number {
    const { folder, base, disks } = this.#head;
    const part = join(this.#root, this.#part);
    const note = { type: base === undefined ? 'Full' : 'Incremental', ...(base !== undefined && { base }), disks };
    make(join(part, BACKUP_NOTE), (file) => writeFileSync(file, `${JSON.stringify(note, undefined, 2)}\n`));
    for (const path of [...this.paths, join(this.#part, BACKUP_NOTE)]) sync(join(this.#root, path));
    sync(part);
    const parent = join(this.#root, dirname(folder));
    makeFolderForGroup(parent);
    sync(`${this.#root}/.`); // the root itself may be a way through an open folder
    renameSync(part, join(this.#root, folder));
    try {
      sync(parent);
    } catch (error) {
      renameSync(join(this.#root, folder), part); // what cannot be relied on has no name
      throw error;
    }
    this.#removeIfEmpty();
    return disks.reduce((sum, { volume }) => sum + statSync(join(this.#root, folder, backupFileOf(volume))).size, 0);
  }

  /** Another try of the machine may have begun since. */
  giveUp(): void {
    rmSync(join(this.#root, this.#part), { force: true, recursive: true });
    this.#removeIfEmpty();
  }

  #removeIfEmpty(): void {
    try {
      rmdirSync(join(this.#root, this.#parts));
    } catch {
      // it is not there, or of another try; the next one removes it
    }
  }
}

function mustFit(root: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(root);
  const [free, needed] = [bavail * bsize, bytes + OTHER_BYTES];
  if (free < needed) throw new Error(`the PVC has ${Math.floor(free / MIB)} MiB left, the backup needs ${Math.ceil(needed / MIB)} MiB`);
}

function make(path: string, write: (file: number) => void): void {
  const file = openForGroup(path, NEW_FILE);
  try {
    write(file);
  } finally {
    closeSync(file);
  }
}

function sync(path: string): void {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
