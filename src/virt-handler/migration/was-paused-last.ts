/** Whether a guest stands still because somebody has just asked for that: before it is written, nothing else tells it from one that stands still for a move. */
import type { Domain } from '../vmi/domain.ts';
import type { DomainCommand } from '../vmi/domain-command.ts';

/** What stops a guest, or lets it go on. */
const STOPS_OR_CONTINUES: ReadonlySet<DomainCommand['name']> = new Set([
  'stop',
  'cont',
  'send',
  'call-back',
  'save',
  'release',
  'load',
  'dump',
  'backup',
  'clear-backup',
  'arrive',
]);

/** Of what was asked of it the last was a pause. */
export function wasPausedLast({ commands }: Domain): boolean {
  const asked = Object.values(commands).filter(({ command }) => STOPS_OR_CONTINUES.has(command.name));
  const last = asked.toSorted((a, b) => a.givenAt - b.givenAt).at(-1);
  return last?.command.name === 'stop' && last.is === 'done';
}
