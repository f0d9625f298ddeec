/** Disks: each shows one volume that is there, in one way that its bus has. */

import type { Disk, VmiSpec, Volume } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { isDumpVolume } from '../../../api/kubevirt/volumes/dump-volume.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { nearestWord } from '../../../base/nearest-word.ts';
import { DISK_SERIAL, isBlockSize } from '../../../qemu/convert/limits.ts';
import { busOf } from '../../../qemu/convert/root-bus.ts';

const TARGETS = ['disk', 'cdrom', 'lun'] as const;

export function validateDisks({ domain, volumes = [] }: VmiSpec, path: string): StatusCause[] {
  const disks = domain.devices.disks ?? [];
  return disks.flatMap((disk, index) => {
    const at = `${path}.domain.devices.disks[${index}]`;
    const others = disks.slice(0, index);
    return [
      ...volumeCauses(disk, { others, volumes, at }),
      ...targetCauses(disk, at),
      ...optionCauses(disk, at),
      ...sharingCauses(disk, { volumes, at }),
      ...lunCauses(disk, { volumes, at }),
    ];
  });
}

type Around = { readonly others: readonly Disk[]; readonly volumes: readonly Volume[]; readonly at: string };

/** A disk and its volume find each other by name; volumeName is the old way to say another one. */
function volumeCauses(disk: Disk, { others, volumes, at }: Around): StatusCause[] {
  const wanted = volumeOf(disk);
  const field = `${at}.${disk.volumeName ? 'volumeName' : 'name'}`;
  if (!volumes.some(({ name }) => name === wanted)) {
    if (disk.cdrom) return []; // an empty drive
    const meant = nearestWord(
      wanted,
      volumes.map(({ name }) => name),
    );
    return [
      invalidCause(
        field,
        wanted,
        `there is no volume of this name${meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`}`,
      ),
    ];
  }
  if (volumes.some((volume) => volume.name === wanted && isDumpVolume(volume)))
    return [invalidCause(field, wanted, 'memory is dumped to this volume: it is no disk')];
  const isTwice = others.some((other) => other.name !== disk.name && volumeOf(other) === wanted);
  return isTwice ? [invalidCause(field, wanted, 'another disk shows the same volume')] : [];
}

function volumeOf({ name, volumeName }: Disk): string {
  return volumeName || name;
}

function targetCauses(disk: Disk, at: string): StatusCause[] {
  const given = TARGETS.filter((target) => disk[target]);
  if (given.length > 1) return [invalidCause(at, given.join(', '), 'a disk has only one of disk, cdrom and lun')];
  const bus = busOf(disk);
  const causes: StatusCause[] = [];
  if (disk.cdrom && bus === 'virtio')
    causes.push(invalidCause(`${at}.cdrom.bus`, bus, 'there is no CD-ROM drive on virtio; use sata or scsi'));
  if (disk.disk?.readonly && bus === 'sata')
    causes.push(invalidCause(`${at}.disk.readonly`, true, 'a SATA disk cannot be read-only; use virtio, scsi or a cdrom'));
  if (disk.dedicatedIOThread && bus !== 'virtio')
    causes.push(invalidCause(`${at}.dedicatedIOThread`, true, 'only a virtio disk has a thread of its own'));
  return causes;
}

/** QEMU's own lock keeps a second writer away from every other disk. */
function sharingCauses(disk: Disk, { volumes, at }: Omit<Around, 'others'>): StatusCause[] {
  if (!disk.shareable) return [];
  const field = `${at}.shareable`;
  const volume = volumes.find(({ name }) => name === volumeOf(disk));
  const causes: StatusCause[] = [];
  if (volume && !volume.persistentVolumeClaim && !volume.dataVolume)
    causes.push(invalidCause(field, true, 'only the disk of a PVC or DataVolume is there for several machines'));
  if (volume?.persistentVolumeClaim?.hotpluggable || volume?.dataVolume?.hotpluggable)
    causes.push(invalidCause(field, true, 'a volume that comes and goes has one machine'));
  if (disk.cache && disk.cache !== 'none')
    causes.push(invalidCause(`${at}.cache`, disk.cache, 'what another node writes is not in a cache: a shareable disk has cache none'));
  return causes;
}

/** A LUN is the SCSI device itself: what it says of itself cannot be said for it. */
function lunCauses(disk: Disk, { volumes, at }: Omit<Around, 'others'>): StatusCause[] {
  if (!disk.lun) return [];
  const volume = volumes.find(({ name }) => name === volumeOf(disk));
  const { persistentVolumeClaim: claim, dataVolume } = volume ?? {};
  const causes: StatusCause[] = [];
  if (volume && !claim && !dataVolume) causes.push(invalidCause(`${at}.lun`, disk.name, 'only a PVC or DataVolume can be a SCSI device'));
  if (claim?.hotpluggable || dataVolume?.hotpluggable)
    causes.push(
      invalidCause(`${at}.lun`, disk.name, 'a volume that comes and goes is served by a program, which passes no SCSI commands on'),
    );
  for (const field of ['serial', 'blockSize'] as const)
    if (disk[field]) causes.push(invalidCause(`${at}.${field}`, disk.name, 'a LUN has that of its device'));
  if (disk.cache === 'writethrough') causes.push(invalidCause(`${at}.cache`, disk.cache, 'a LUN has the cache of its device'));
  return causes;
}

function optionCauses({ serial, blockSize, io, cache }: Disk, at: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (io === 'native' && cache && cache !== 'none')
    causes.push(invalidCause(`${at}.io`, io, `needs a disk without a cache of the host: cache none, not ${cache}`));
  if (serial && !DISK_SERIAL.test(serial))
    causes.push(invalidCause(`${at}.serial`, serial.slice(0, 64), 'consists of letters, digits and _ . + -, at most 256 of them'));
  const { custom, matchVolume } = blockSize ?? {};
  if (!custom) return causes;
  if (matchVolume && matchVolume.enabled !== false)
    causes.push(invalidCause(`${at}.blockSize`, 'custom, matchVolume', 'only one of custom and matchVolume may be set'));
  for (const kind of ['logical', 'physical'] as const) {
    if (!isBlockSize(custom[kind]))
      causes.push(invalidCause(`${at}.blockSize.custom.${kind}`, custom[kind], 'must be a power of two between 512 and 2097152'));
  }
  if (custom.logical > custom.physical)
    causes.push(invalidCause(`${at}.blockSize.custom.logical`, custom.logical, `must be at most the physical size, ${custom.physical}`));
  const { discardGranularity: discard, logical } = custom;
  if (discard !== undefined && discard % logical !== 0)
    causes.push(invalidCause(`${at}.blockSize.custom.discardGranularity`, discard, `must be a multiple of the logical size, ${logical}`));
  return causes;
}
