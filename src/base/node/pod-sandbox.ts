/**
 * The part of a Pod's folder that tells of containers with a network of their own, for whoever has to find or end them without a kubelet:
 *
 *   sandbox.json                    who holds the network of the Pod, and the kernel's name of it
 *   containers/NAME/bundle/pid      the first process of a container, which the others end with
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { identify, type ProcessIdentity } from './process-identity.ts';

export type Sandbox = {
  readonly holder: ProcessIdentity;
  readonly slirp: ProcessIdentity;
  /** The kernel's name of its network: what runs in it is of this Pod. */
  readonly network: string;
};

export const SANDBOX_FILE = 'sandbox.json';
export const CONTAINERS_FOLDER = 'containers';
export const BUNDLE_FOLDER = 'bundle';
export const PID_FILE = 'pid';

/** What was written down of it, whatever has become of those who hold it. */
export function readSandbox(dir: string): Partial<Sandbox> | undefined {
  try {
    return JSON.parse(readFileSync(join(dir, SANDBOX_FILE), 'utf8')) as Partial<Sandbox>;
  } catch {
    return undefined; // none, or the end of a disk that was full
  }
}

/** True for a process that is in the network of this Pod. */
export function isInSandbox(dir: string, pid: number): boolean {
  const network = readSandbox(dir)?.network;
  try {
    return network !== undefined && readlinkSync(`/proc/${pid}/ns/net`) === network;
  } catch {
    return false; // ended
  }
}

/** As crun wrote it down, when it is in the network of this Pod: a number alone may be somebody else's by now. */
export function firstProcessOf(dir: string, container: string): ProcessIdentity | undefined {
  const pid = readPid(join(dir, CONTAINERS_FOLDER, container, BUNDLE_FOLDER));
  return pid !== undefined && isInSandbox(dir, pid) ? identify(pid) : undefined;
}

/** The first process of each container that runs, also of one whose crun is gone. */
export function firstProcessesOf(dir: string): { readonly container: string; readonly process: ProcessIdentity }[] {
  if (!readSandbox(dir)) return [];
  return namesIn(join(dir, CONTAINERS_FOLDER)).flatMap((container) => {
    const process = firstProcessOf(dir, container);
    return process ? [{ container, process }] : [];
  });
}

/** The first process of the container of a bundle; undefined before it runs. */
export function readPid(bundle: string): number | undefined {
  return readNumber(join(bundle, PID_FILE));
}

/** A number that somebody wrote down; undefined when nobody did. */
export function readNumber(path: string): number | undefined {
  try {
    const number = Number.parseInt(readFileSync(path, 'utf8'), 10);
    return Number.isInteger(number) ? number : undefined;
  } catch {
    return undefined;
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // none was started
  }
}
