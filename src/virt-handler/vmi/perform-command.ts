/** The way of each command to a guest: what QMP is told, and what its answer means. */
import { renderCommand } from '../../qemu/convert/render-command.ts';
import { QmpError, QmpTimeout } from '../../qemu/qmp/client.ts';
import { backupGuest } from '../backup/backup-guest.ts';
import { clearBackup } from '../backup/clear-backup.ts';
import { dumpGuest } from '../memory-dump/dump-guest.ts';
import { letArrive, receiveGuest } from '../migration/receive-guest.ts';
import { callBack, sendGuest } from '../migration/send-guest.ts';
import { becomeAnother } from '../suspension/become-another.ts';
import { loadGuest, releaseGuest, saveGuest } from '../suspension/save-guest.ts';
import type { DomainCommand } from './domain-command.ts';
import type { Performer } from './performer.ts';

/** A busy node may let QEMU wait, and in a move it connects to another one before it answers. */
const MOVE_COMMAND_MS = 30_000;

/** A qcow2 writes its tables anew, on a disk that others use, too. */
const RESIZE_MS = 30_000;
const REFUSED_MS = { pause: 50, patience: 2_000 } as const;

/** Resolves with what QEMU returned. */
export async function performCommand(performer: Performer, command: DomainCommand): Promise<unknown> {
  const { qmp } = performer;
  const moving: Performer = { ...performer, qmp: { execute: (name, args) => qmp.execute(name, args, { timeoutMs: MOVE_COMMAND_MS }) } };
  switch (command.name) {
    case 'cont':
    case 'stop':
    case 'system_powerdown':
    case 'system_reset':
      return qmp.execute(command.name);
    case 'send-key':
      return qmp.execute(command.name, { keys: command.keys.map((data) => ({ type: 'qcode', data })) });
    case 'receive':
      return receiveGuest(moving, command);
    case 'send':
      return sendGuest(moving, command);
    case 'call-back':
      return callBack(moving, command);
    case 'save':
      return saveGuest(moving, command);
    case 'load':
      return loadGuest(moving);
    case 'release':
      return releaseGuest(moving);
    case 'become-another':
      return becomeAnother(moving, command.as);
    case 'dump':
      return dumpGuest(moving, command);
    case 'end-dump':
      return performer.dumps.end(command.why);
    case 'backup':
      return backupGuest(moving, command);
    case 'end-backup':
      return performer.backups?.end(command.podUid, command.why);
    case 'clear-backup':
      return clearBackup(moving, command);
    case 'arrive':
      return letArrive(moving, command);
    case 'plug': {
      const { execute, arguments: parameters } = renderCommand(command.part);
      return qmp.execute(execute, parameters);
    }
    case 'unplug':
      return qmp.execute('device_del', { id: command.device });
    case 'close':
      return closeNode(performer, command.node);
    case 'insert':
      return changeMedium(performer, command.drive, command.node);
    case 'eject':
      return changeMedium(performer, command.drive);
    case 'resize':
      return qmp.execute('block_resize', { 'node-name': command.node, size: command.bytes }, { timeoutMs: RESIZE_MS });
    case 'quit':
      try {
        return await qmp.execute(command.name);
      } catch (error) {
        // QEMU may be gone before it could say that it goes.
        if (error instanceof QmpError || error instanceof QmpTimeout) throw error;
        return undefined;
      }
  }
}

/**
 * Every step can be repeated: whoever is killed in between begins again, and so do we where the guest closes the tray in between, as firmware does
 * that looks for something to boot.
 */
function changeMedium(performer: Performer, id: string, node?: string): Promise<unknown> {
  const { qmp } = performer;
  return untilTaken(performer, async () => {
    await qmp.execute('eject', { id, force: true }); // opens the tray and empties it at once
    if (node !== undefined) await qmp.execute('blockdev-insert-medium', { id, 'node-name': node });
    return qmp.execute('blockdev-close-tray', { id });
  });
}

/** A device that has gone lets go of its disk a moment later. */
function closeNode(performer: Performer, node: string): Promise<unknown> {
  return untilTaken(performer, () => performer.qmp.execute('blockdev-del', { 'node-name': node }));
}

/** Again for a while when QEMU refuses. */
async function untilTaken({ clock }: Performer, act: () => Promise<unknown>): Promise<unknown> {
  const deadline = clock.steady() + REFUSED_MS.patience;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof QmpError) || clock.steady() >= deadline) throw error;
      await clock.sleep(REFUSED_MS.pause);
    }
  }
}
