/**
 * What to do for the hotplugged volumes of a guest that runs, one step at a time; each step is seen in the next observation, so whoever is killed
 * half-way goes on where it was.
 *
 *   phase                     what is seen                            what follows
 *   AttachedToNode to Ready   the Pod does not listen yet             look again soon
 *   AttachedToNode to Ready   the socket is not in QEMU's folder      move it there; a Pod that came back has another one
 *   MountedToPod              the block node is missing               add it
 *   MountedToPod              CD-ROM, its drive is empty              put the block node in
 *   MountedToPod              SCSI, the controller is missing         plug it into a free port
 *   MountedToPod              the device is missing                   plug it in: at the controller, or into a free port
 *   Detaching                 the device is there                     ask the guest to let go, again every 5 s
 *   Detaching                 it is in a CD-ROM drive                 take it out
 *   Detaching                 the block node is there                 delete it
 *   Detaching                 the socket is there                     remove it
 *
 * Nothing comes or goes while the guest is moved or suspended. One device is plugged in at a time: the next has to see which places are taken. Pure.
 */
import { hotplugDisksOf } from '../../api/kubevirt/hotplug.ts';
import type { Disk } from '../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { pluggedNames } from '../../api/launcher/attachment.ts';
import type { Pluggable } from '../../qemu/convert/machine-model.ts';
import {
  HOTPLUG_CONTROLLER,
  hotplugController,
  needsPort,
  pluggedCard,
  pluggedNode,
  pluggedScsiDisk,
} from '../../qemu/convert/plugged-disk.ts';
import { beginHindranceOf } from '../migration/begin-hindrance.ts';
import type { DomainAction } from '../vmi/domain-action.ts';
import type { DomainCommand } from '../vmi/domain-command.ts';
import type { ObservedDomain } from '../vmi/observed.ts';
import { freePort, freeTarget, whyNoPlace } from './free-places.ts';
import { driveOf, driveWith, hotplugEntriesOf, type VolumeEntry } from './hotplug-status.ts';
import type { Plugged } from './plugged.ts';

/** A guest may not let go the first time, and QEMU may fail to do what it is asked. */
const AGAIN_MS = 5_000;
/** A Pod that has just started is about to listen. */
const SOON_MS = 250;

type Plan = { readonly actions: readonly DomainAction[]; readonly lookAgainAfterMs?: number };
const NOTHING: Plan = { actions: [] };

/** The rules above: the next step of each volume that can take one. */
export function decidePlugs(seen: ObservedDomain): Plan {
  const { vmi, domain } = seen;
  const isUp = domain.state === 'running' || domain.state === 'paused' || domain.state === 'io-error';
  if (vmi.status?.phase !== 'Running' || !isUp || !domain.isConnected || beginHindranceOf('hotplug', seen)) return NOTHING;
  let isPlugging = Object.values(domain.commands).some(({ command, is }) => command.name === 'plug' && is === 'running');
  const plans = hotplugEntriesOf(vmi).map((entry): Plan => {
    const plan = entry.phase === 'Detaching' ? leave(seen, entry) : come(seen, entry);
    const isPlug = plan.actions.some((action) => action.do === 'command' && action.command.name === 'plug');
    if (isPlug && isPlugging) return { actions: [], lookAgainAfterMs: SOON_MS };
    isPlugging ||= isPlug;
    return plan;
  });
  const waits = plans.flatMap(({ lookAgainAfterMs }) => lookAgainAfterMs ?? []);
  return { actions: plans.flatMap(({ actions }) => actions), ...(waits.length > 0 && { lookAgainAfterMs: Math.min(...waits) }) };
}

function come(seen: ObservedDomain, { name, phase, hotplugVolume }: VolumeEntry): Plan {
  const wanted = hotplugDisksOf(seen.vmi.spec).find(({ volume }) => volume.name === name);
  if (!wanted || (phase !== 'AttachedToNode' && phase !== 'MountedToPod' && phase !== 'Ready')) return NOTHING;
  const link = seen.links?.[name]?.is ?? 'absent';
  if (link === 'absent' || link === 'stale') return { actions: [], lookAgainAfterMs: SOON_MS };
  const { attachPodUID } = hotplugVolume ?? {};
  if (link !== 'linked' && attachPodUID)
    return {
      actions: [{ do: 'link disk', volume: name, attachPodUid: attachPodUID, because: `volume ${name} is attached to the node` }],
      lookAgainAfterMs: SOON_MS,
    };
  const { plugged } = seen.domain;
  if (phase !== 'MountedToPod' || !plugged) return NOTHING;
  const because = `volume ${name} is to be seen by the guest`;
  const isReadOnly = claimOf(wanted.volume)?.isReadOnly ?? false;
  if (wanted.disk.cdrom) return insert(seen, wanted.disk, because);
  const part = nextPart(wanted.disk, plugged, isReadOnly);
  return part ? give(seen, { id: name, command: { name: 'plug', part }, because }) : NOTHING;
}

/** The drive is there from the start; what is in it now has to leave first, by the rules for that. */
function insert(seen: ObservedDomain, disk: Disk, because: string): Plan {
  const { nodes = [], media = {} } = seen.domain.plugged ?? {};
  const { node } = pluggedNames(disk.name);
  const drive = driveOf(seen.vmi, disk.name);
  if (drive === undefined || media[drive] !== '') return NOTHING;
  if (!nodes.includes(node))
    return give(seen, { id: disk.name, command: { name: 'plug', part: pluggedNode(disk, { isReadOnly: true }) }, because });
  return give(seen, { id: disk.name, command: { name: 'insert', drive, node }, because });
}

/** What QEMU has to be given next; undefined when it has all, or there is no place. */
function nextPart(disk: Disk, plugged: Plugged, isReadOnly: boolean): Pluggable | undefined {
  const { device, node } = pluggedNames(disk.name);
  if (device in plugged.devices || whyNoPlace(disk, plugged) !== undefined) return undefined;
  if (!plugged.nodes.includes(node)) return pluggedNode(disk, { isReadOnly });
  const [port, target] = [freePort(plugged) ?? '', freeTarget(plugged) ?? 0];
  if (needsPort(disk)) return pluggedCard(disk, port);
  return HOTPLUG_CONTROLLER in plugged.devices ? pluggedScsiDisk(disk, target) : hotplugController(port);
}

function leave(seen: ObservedDomain, { name }: VolumeEntry): Plan {
  const { plugged } = seen.domain;
  if (!plugged) return NOTHING;
  const { device, node } = pluggedNames(name);
  const because = `volume ${name} is to leave the guest`;
  if (device in plugged.devices) return give(seen, { id: name, command: { name: 'unplug', device }, because });
  const drive = driveWith(plugged, node);
  if (drive !== undefined) return give(seen, { id: name, command: { name: 'eject', drive }, because });
  if (plugged.nodes.includes(node)) return give(seen, { id: name, command: { name: 'close', node }, because });
  const { is: link = 'absent' } = seen.links?.[name] ?? {};
  return link === 'absent' || link === 'missing'
    ? NOTHING
    : { actions: [{ do: 'unlink disk', volume: name, because }], lookAgainAfterMs: SOON_MS };
}

type Given = { readonly id: string; readonly command: DomainCommand; readonly because: string };

/** By the volume and what is done: another step of the same volume need not wait for the last one's time. */
function give({ domain, now }: ObservedDomain, { id: volume, command, because }: Given): Plan {
  const id = `${command.name} ${'part' in command ? partName(command.part) : volume}`;
  const last = domain.commands[id];
  if (last?.is === 'running') return NOTHING;
  const waitMs = last ? last.givenAt + AGAIN_MS - now : 0;
  return waitMs > 0
    ? { actions: [], lookAgainAfterMs: waitMs }
    : { actions: [{ do: 'command', id, command, because }], lookAgainAfterMs: AGAIN_MS };
}

/** What a step is known by. */
function partName(part: Pluggable): string {
  return part.part === 'blockdev' ? part.node['node-name'] : part.id;
}
