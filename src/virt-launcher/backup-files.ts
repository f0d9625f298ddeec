/**
 * The files of a backup on a PVC: one qcow2 for each disk, and a note of what they are. They are made in a hidden folder, which gets its name when all of it
 * is on the disk: what has a name is whole, with all of its disks. One backup at a time.
 */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { BACKUP_NOTE, type BackupHead, backupFileOf } from '../api/launcher/backup.ts';
import { createQcow2 } from './qcow2.ts';

const PART = '.backup.part';
/** What a PVC has that is the disk of a machine. */
const DISK_FILE = 'disk.img';
const MIB = 2 ** 20;
/** What the tables of the files and the file system need besides. */
const OTHER_BYTES = 8 * MIB;

export class BackupFiles {
  readonly #root: string;
  readonly #head: BackupHead;

  /** Makes the empty files. Throws when the PVC cannot take them. */
  constructor(root: string, head: BackupHead) {
    this.#root = root;
    this.#head = head;
    const { folder, base, disks, bytes } = head;
    this.giveUp(); // of a try that was killed
    if (existsSync(join(root, DISK_FILE)))
      throw new Error('the PVC is the disk of a machine (it has disk.img): use one of its own for backups');
    if (lstatSync(join(root, folder), { throwIfNoEntry: false })) throw new Error(`the PVC has ${folder} already`);
    const parent = lstatSync(join(root, dirname(folder)), { throwIfNoEntry: false });
    if (parent && !parent.isDirectory()) throw new Error(`${dirname(folder)} on the PVC is not a folder: a link could lead anywhere`);
    const { bavail, bsize } = statfsSync(root);
    if (bavail * bsize < bytes + OTHER_BYTES)
      throw new Error(
        `the PVC has ${Math.floor((bavail * bsize) / MIB)} MiB left, the backup needs ${Math.ceil((bytes + OTHER_BYTES) / MIB)} MiB`,
      );
    mkdirSync(join(root, PART), { mode: 0o750 });
    for (const { volume, bytes: size } of disks) {
      const file = backupFileOf(volume);
      createQcow2(join(root, PART, file), size, base === undefined ? undefined : `../${base}/${file}`);
    }
  }

  /** Where the files are until they have their names, from the root of the PVC. */
  get paths(): string[] {
    return this.#head.disks.map(({ volume }) => join(PART, backupFileOf(volume)));
  }

  /** All of it is on the disk, under its name, when this returns. */
  finish(): number {
    const { folder, base, disks } = this.#head;
    const part = join(this.#root, PART);
    const note = { type: base === undefined ? 'Full' : 'Incremental', ...(base !== undefined && { base }), disks };
    writeFileSync(join(part, BACKUP_NOTE), `${JSON.stringify(note, undefined, 2)}\n`, { mode: 0o640 });
    for (const path of [...this.paths, join(PART, BACKUP_NOTE)]) sync(join(this.#root, path));
    sync(part);
    const parent = join(this.#root, dirname(folder));
    mkdirSync(parent, { recursive: true, mode: 0o750 });
    sync(`${this.#root}/.`); // the root itself may be a way through an open folder
    renameSync(part, join(this.#root, folder));
    try {
      sync(parent);
    } catch (error) {
      renameSync(join(this.#root, folder), part); // what cannot be relied on has no name
      throw error;
    }
    return disks.reduce((sum, { volume }) => sum + statSync(join(this.#root, folder, backupFileOf(volume))).size, 0);
  }

  giveUp(): void {
    rmSync(join(this.#root, PART), { force: true, recursive: true });
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
