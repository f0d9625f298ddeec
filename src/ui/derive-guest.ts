/** What the agent in a guest says, as the page shows it: text of the guest, in one line and without control characters. Pure. */
import type { GuestAgentInfo } from '../api/handler/answers.ts';
import { escapeToOneLine } from '../base/escape-unprintable.ts';

export type GuestFact = { readonly label: string; readonly value: string };
export type FileSystem = { readonly place: string; readonly usedBytes: number; readonly totalBytes: number };

/** A guest may say that it has thousands. */
const MOST = 20;

/** What it does not say is left out. */
export function deriveGuestFacts({ hostname, os, timezone, userList }: GuestAgentInfo): GuestFact[] {
  const users = userList?.slice(0, MOST).map(({ userName }) => userName);
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Host name', hostname],
    ['System', os.prettyName ?? os.name],
    ['Kernel', os.kernelRelease],
    ['Time zone', timezone],
    ['Users', users?.join(', ') || undefined],
  ];
  return facts.flatMap(([label, value]) => (value === undefined ? [] : [{ label, value: escapeToOneLine(value) }]));
}

export function deriveFileSystems({ fsInfo }: GuestAgentInfo): FileSystem[] {
  return fsInfo.disks
    .slice(0, MOST)
    .map(({ mountPoint, usedBytes, totalBytes }) => ({ place: escapeToOneLine(mountPoint), usedBytes, totalBytes }));
}
