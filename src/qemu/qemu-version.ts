/** Which QEMU it is. Apart from finding it: this starts a process, which has no place on the way to a starting guest. */
import { execFileSync } from 'node:child_process';

/** The version of the QEMU at `path` as it says it, such as 7.2.22; undefined when it says none. */
export function qemuVersion(path: string): string | undefined {
  return /version (\d+(?:\.\d+)+)/.exec(execFileSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 }))?.[1];
}
