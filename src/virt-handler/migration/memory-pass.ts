/**
 * How the memory of a guest is sent so that none of its writes is lost. First match wins.
 *
 *   with KVM, or QEMU 9 and later    as QEMU does it: what is written meanwhile is sent again, until little is left
 *   without, QEMU 7 and earlier      gone through once while the guest runs; what it has written since goes when it stands still
 *   without, QEMU 8                  all of it while the guest stands still
 *
 * Without KVM, QEMU before version 9 forgets writes after each time that it gathers what was written, because its emulation goes on to write to pages whose
 * marks were taken off. The first time can be made safe: its emulation forgets all pages that it knows before that, and knows none again when it stands still. The last
 * time is safe as well, the guest stands still then. So there must be none in between: QEMU 7 has one only when less is left than it could send in its limit
 * of downtime, which is 0 here; QEMU 8 has one always.
 */
import { isObject } from '../../base/json.ts';
import type { Performer } from '../vmi/performer.ts';

type Qmp = Performer['qmp'];
export type MemoryPass = 'as QEMU does it' | 'once, then standing still' | 'standing still';

/** Of QEMU: the first that copies the memory of an emulated guest right while it runs, and the last that does not look in between. */
const FIRST_RIGHT_VERSION = 9;
const LAST_WITHOUT_A_LOOK = 7;
/** It has gathered once what was written: at its beginning. */
const FIRST_LOOK = 1;

export async function memoryPassOf(qmp: Qmp): Promise<MemoryPass> {
  const [kvm, version] = [await qmp.execute('query-kvm'), await qmp.execute('query-version')];
  const { qemu } = isObject(version) ? version : {};
  const major = isObject(qemu) && typeof qemu['major'] === 'number' ? qemu['major'] : undefined;
  if (isObject(kvm) && kvm['enabled'] === true) return 'as QEMU does it';
  if (major === undefined) return 'standing still';
  if (major >= FIRST_RIGHT_VERSION) return 'as QEMU does it';
  return major <= LAST_WITHOUT_A_LOOK ? 'once, then standing still' : 'standing still';
}

/**
 * Lets a guest go on that stood still for the first look. QEMU refuses when it has sent all of its memory in that time: then it stands still for the rest, too. It
 * stops the guest for the rest before it says so of the copy.
 */
export async function letRunAgain(qmp: Qmp, statusOfCopy: () => Promise<string>): Promise<void> {
  try {
    await qmp.execute('cont');
  } catch (error) {
    if (!(await isAtItsEnd(qmp)) && (await statusOfCopy()) === 'active') throw error;
  }
}

async function isAtItsEnd(qmp: Qmp): Promise<boolean> {
  const answer = await qmp.execute('query-status');
  return isObject(answer) && answer['status'] === 'finish-migrate';
}

/** Throws when QEMU has looked in between all the same: some of what the guest wrote may be missing in what was sent. */
export function requireOneLook(looks: number | undefined): void {
  if (looks !== undefined && looks > FIRST_LOOK)
    throw new Error(`QEMU has looked ${looks} times at what the guest writes, and may have missed some of it`);
}
