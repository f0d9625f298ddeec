/**
 * A process of a Pod that has disks, on its way to become the program that uses them: its folder, its user, its umask, and the images of its
 * volumes. All of it is synchronous. When a step fails, what the earlier ones made is taken away again.
 */
import { closeSync, constants, existsSync, mkdirSync, mkdtempSync, openSync, rmdirSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { DISKS_FOLDER } from '../api/launcher/files.ts';
import { PRIVATE_VOLUME, PUBLIC_VOLUME } from '../api/launcher/mounts.ts';
import { HIDDEN_FOLDERS_VARIABLE } from '../api/launcher/variables.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { isolatedCommand } from '../base/node/isolated-command.ts';
import type { DiskImage } from '../qemu/convert/input.ts';
import { makeImages } from './make-images.ts';
import { mountedFolder } from './mounted-folder.ts';
import { type Privileges, stepDown } from './privileges.ts';

export type Environment = Readonly<Record<string, string | undefined>>;
export type Program = { readonly program: string; readonly args: readonly string[]; readonly env: Record<string, string> };
export type Prepared = {
  readonly images: ReadonlyMap<string, DiskImage>;
  /** Where they are, from the folder of the process. */
  readonly diskFolder: string;
  readonly privileges: Privileges;
};
type Options = {
  readonly env: Environment;
  readonly vmi: Pick<VirtualMachineInstance, 'metadata' | 'spec'>;
  readonly program: string;
  readonly report: (line: string) => void;
  /** What else is made while folders can be opened as root; its result is given to `argumentsFrom`. */
  readonly argumentsFrom: (made: Prepared) => () => readonly string[];
};

/** Gets this process ready to become the program: its folder, its user and its umask are those of the program when this returns. */
export function readyProcess({ env, vmi, program, report, argumentsFrom }: Options): Program {
  const publicFolder = mountedFolder(PUBLIC_VOLUME.mountPath, env);
  // From its own folder: short, and open even when the folders above are closed to its user.
  const diskFolder = relative(publicFolder, join(mountedFolder(PRIVATE_VOLUME.mountPath, env), DISKS_FOLDER));
  process.umask(0o077);
  process.chdir(publicFolder);
  const privileges = stepDown(env);
  makeEmpty(diskFolder);
  try {
    const images = makeImages({ vmi, folder: diskFolder, env, privileges, report });
    const build = argumentsFrom({ images, diskFolder, privileges });
    const hidden = hiddenFolders(env, [program, ...pathsOf(images)]);
    if (!hidden) privileges.dropForGood();
    checkAccess(images, privileges);
    const command = { program, args: build(), env: environmentOfProgram(env) };
    report(`starting ${program} as user ${process.geteuid?.()}${hidden ? ', with mounts and processes of its own' : ''}`);
    return hidden ? isolated(command, { folder: publicFolder, hidden, privileges }) : command;
  } catch (error) {
    rmSync(diskFolder, { recursive: true, force: true });
    throw error;
  }
}

/** Files of a try that was killed go first. */
function makeEmpty(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
  } catch (error) {
    throw new UserError('FILE_INACCESSIBLE', `user ${process.geteuid?.()} cannot write to the volume at ${PRIVATE_VOLUME.mountPath}`, {
      why: messageOf(error),
      cause: error,
    });
  }
}

/** Asked as the user that QEMU runs as, for a better answer than QEMU's. By opening: what `access` answers is for the user that started us. */
function checkAccess(images: ReadonlyMap<string, DiskImage>, { user }: Privileges): void {
  const check = (what: string, use: () => void) => {
    try {
      use();
    } catch (error) {
      const uid = user?.uid ?? process.getuid?.();
      throw new UserError('FILE_INACCESSIBLE', `user ${uid} cannot use ${what}`, { why: messageOf(error), cause: error });
    }
  };
  const open = (path: string, flags: number) => closeSync(openSync(path, flags | constants.O_NONBLOCK));
  check(`the volume at ${PUBLIC_VOLUME.mountPath}`, () => rmdirSync(mkdtempSync('./check-')));
  for (const [name, { path, base, isReadOnly }] of images) {
    check(`the disk ${name}`, () => open(path, isReadOnly ? constants.O_RDONLY : constants.O_RDWR));
    if (base) check(`the image of disk ${name}`, () => open(base.path, constants.O_RDONLY));
  }
}

function pathsOf(images: ReadonlyMap<string, DiskImage>): string[] {
  return [...images.values()].flatMap(({ path, base }) => [path, ...(base ? [base.path] : [])]);
}

/** What the node runtime wants hidden, less what QEMU needs a way through: files that could not be linked are opened by their path. */
function hiddenFolders(env: Environment, needed: readonly string[]): string[] | undefined {
  const text = env[HIDDEN_FOLDERS_VARIABLE];
  if (!text) return undefined;
  const folders = JSON.parse(text) as string[]; // no Pod can set it
  return folders.filter((folder) => existsSync(folder) && !needed.some((path) => path.startsWith(`${folder}/`)));
}

type Isolating = { readonly folder: string; readonly hidden: readonly string[]; readonly privileges: Privileges };

/** Root again until the namespaces are there; the program that makes them becomes QEMU's user. */
function isolated({ program, args, env }: Program, { folder, hidden, privileges }: Isolating): Program {
  const [unshare = '', ...rest] = isolatedCommand([program, ...args], { folder, hidden, user: privileges.user });
  privileges.stepUp();
  process.chdir('/');
  return { program: unshare, args: rest, env };
}

/** The instance, with whatever secrets its cloud-init holds, does not stay in the environment of a process that runs a guest. */
function environmentOfProgram(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => name === 'PATH' || name.startsWith('CONTAINER_'));
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']));
}
