/**
 * Saves and loads the memory of a guest. QEMU writes to a socket of its own folder, and what comes there goes to the Pod that has the PVC; when
 * that says that everything is on the disk, the guest is saved, and stands still. Whatever fails, the guest stands still as well: that it may
 * run on is decided elsewhere.
 */
import { OUTGOING_SOCKETS } from '../../api/launcher/files.ts';
import { MACHINE_FILE, MEMORY_DESCRIPTOR, type SavedMachine } from '../../api/launcher/suspension.ts';
import type { Clock } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import { textIn } from '../text-in.ts';
import type { Performer } from '../vmi/performer.ts';
import { isSavedGuest, type SavedGuest } from './saved-guest.ts';

const POLL_MS = 20;
/** A disk that takes nothing for so long will not. */
const STUCK_MS = 120_000;
const LOAD_MS = 600_000;
const UNDO_MS = 30_000;
/** Of a disk: the guest stands still, so nothing is gained by being slow. */
const BYTES_PER_SECOND = 2 ** 40;
const CAPABILITIES = ['events', 'return-path', 'pause-before-switchover', 'auto-converge'].map((capability) => ({
  capability,
  state: capability === 'events',
}));

type Saver = Pick<Performer, 'qmp' | 'clock' | 'openStore'>;

/** Resolves when all of it is on the disk of the PVC. */
export async function saveGuest({ qmp, clock, openStore }: Saver, { podUid }: { readonly podUid: string }): Promise<SavedGuest> {
  const [version, kvm] = [await qmp.execute('query-version'), await qmp.execute('query-kvm')];
  const saved = { qemu: versionIn(version), accelerator: isObject(kvm) && kvm['enabled'] === true ? 'kvm' : 'tcg' };
  const store = await openStore({ podUid, ...saved });
  try {
    await qmp.execute('stop');
    await qmp.execute('migrate-set-capabilities', { capabilities: CAPABILITIES });
    await qmp.execute('migrate-set-parameters', { 'max-bandwidth': BYTES_PER_SECOND });
    await qmp.execute('migrate', { uri: `unix:${OUTGOING_SOCKETS.memory}` });
    const answer = await Promise.race([store.answer, untilSent({ qmp, clock })]).then((first) => first ?? store.answer);
    if ('error' in answer) throw new Error(`the PVC did not take it: ${answer.error}`);
    if ((await migrationStatus(qmp)).status !== 'completed') await untilSent({ qmp, clock });
    if (!isSavedGuest(answer)) throw new Error('the Pod that writes it did not say what it wrote');
    return answer;
  } finally {
    store.close();
  }
}

/** Resolves when the memory is in QEMU, and the guest stands still. */
export async function loadGuest({ qmp, clock }: Pick<Performer, 'qmp' | 'clock'>): Promise<void> {
  await qmp.execute('migrate-incoming', { uri: `fd:${MEMORY_DESCRIPTOR}` });
  const deadline = clock.steady() + LOAD_MS;
  for (;;) {
    const answer = await qmp.execute('query-status');
    if (!isObject(answer) || answer['status'] !== 'inmigrate') return;
    if (clock.steady() >= deadline) throw new Error('QEMU does not finish loading it');
    await clock.sleep(POLL_MS);
  }
}

/** A guest whose memory was not saved runs on. */
export async function releaseGuest({ qmp, clock }: Pick<Performer, 'qmp' | 'clock'>): Promise<void> {
  await qmp.execute('migrate_cancel');
  const deadline = clock.steady() + UNDO_MS;
  while (BUSY.includes((await migrationStatus(qmp)).status)) {
    if (clock.steady() >= deadline) throw new Error('QEMU does not stop saving');
    await clock.sleep(POLL_MS);
  }
  await qmp.execute('cont');
}

/** What the launcher says of its machine, in the folder of QEMU. */
export async function machineIn(folder: string): Promise<SavedMachine['machine']> {
  const digest = (await textIn(folder, MACHINE_FILE)) ?? '';
  if (!/^[0-9a-f]{64}$/.test(digest)) throw new Error('this instance was started by an earlier release: restart it once');
  return digest;
}

/** A QEMU that has sent everything, for a while without an answer, is answered by nobody. */
async function untilSent({ qmp, clock }: { readonly qmp: Performer['qmp']; readonly clock: Clock }): Promise<undefined> {
  let [sent, since] = [-1, clock.steady()];
  for (;;) {
    const { status, bytes, why } = await migrationStatus(qmp);
    if (status === 'completed') return undefined;
    if (!BUSY.includes(status)) throw new Error(`QEMU has not written it: ${why ?? status}`);
    if (bytes !== sent) [sent, since] = [bytes, clock.steady()];
    if (clock.steady() - since >= STUCK_MS) throw new Error(`nothing was written for ${STUCK_MS / 1000} s`);
    await clock.sleep(POLL_MS);
  }
}

const BUSY: readonly string[] = ['setup', 'cancelling', 'active', 'pre-switchover', 'device', 'wait-unplug'];

async function migrationStatus(qmp: Performer['qmp']) {
  const answer = await qmp.execute('query-migrate');
  const { status, ram, 'error-desc': why } = isObject(answer) ? answer : {};
  const bytes = isObject(ram) ? Number(ram['transferred'] ?? 0) : 0;
  return { status: String(status ?? 'none'), bytes, why: why === undefined ? undefined : String(why) };
}

function versionIn(answer: unknown): string {
  const { qemu } = isObject(answer) ? answer : {};
  const { major, minor, micro } = isObject(qemu) ? qemu : {};
  return `${major}.${minor}.${micro}`;
}
