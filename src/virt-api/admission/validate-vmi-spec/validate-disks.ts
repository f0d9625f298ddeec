/** Disks: each shows one volume that is there, in one way that its bus has. */
import { duplicateCause, forbiddenCause, invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { nearestWord } from '../../../base/nearest-word.ts';
import type { CheckedDisk, CheckedSpec, CheckedVolume } from './checked-spec.ts';

const TARGETS = ['disk', 'cdrom', 'lun'] as const;
const SERIAL = /^[A-Za-z0-9_.+-]{1,256}$/;
const PCI_ADDRESS = /^[0-9a-f]{4}:[0-9a-f]{2}:[0-1][0-9a-f]\.[0-7]$/i;
const DEFAULT_BUS = 'sata';
/** Who can be passed to a guest with its SCSI commands. */
const LUN_SOURCES = ['persistentVolumeClaim', 'dataVolume'];

export function validateDisks({ domain, volumes = [] }: CheckedSpec, path: string): StatusCause[] {
  const disks = domain?.devices?.disks ?? [];
  return disks.flatMap((disk, index) => {
    const at = `${path}.domain.devices.disks[${index}]`;
    const others = disks.slice(0, index);
    return [
      ...nameCauses(disk, others, at),
      ...volumeCauses(disk, { others, volumes, at }),
      ...targetCauses(disk, at),
      ...optionCauses(disk, at),
    ];
  });
}

function nameCauses({ name }: CheckedDisk, others: readonly CheckedDisk[], at: string): StatusCause[] {
  return others.some((other) => other.name === name) ? [duplicateCause(`${at}.name`, name)] : [];
}

type Around = { readonly others: readonly CheckedDisk[]; readonly volumes: readonly CheckedVolume[]; readonly at: string };

/** A disk and its volume find each other by name; volumeName is the old way to say another one. */
function volumeCauses(disk: CheckedDisk, { others, volumes, at }: Around): StatusCause[] {
  const wanted = volumeOf(disk);
  const field = `${at}.${disk.volumeName ? 'volumeName' : 'name'}`;
  const volume = volumes.find(({ name }) => name === wanted);
  if (!volume) {
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
  const causes: StatusCause[] = [];
  if (others.some((other) => other.name !== disk.name && volumeOf(other) === wanted))
    causes.push(invalidCause(field, wanted, 'another disk shows the same volume'));
  if (disk.lun && !LUN_SOURCES.some((source) => volume[source] !== undefined))
    causes.push(invalidCause(`${at}.lun`, wanted, 'a LUN can only show a persistentVolumeClaim or a dataVolume'));
  return causes;
}

function volumeOf({ name, volumeName }: CheckedDisk): string {
  return volumeName || name;
}

function targetCauses(disk: CheckedDisk, at: string): StatusCause[] {
  const given = TARGETS.filter((target) => disk[target]);
  if (given.length > 1) return [invalidCause(at, given.join(', '), 'a disk has only one of disk, cdrom and lun')];
  const target = given[0] ?? 'disk';
  const { bus = DEFAULT_BUS, readonly, pciAddress } = disk[target] ?? {};
  const causes: StatusCause[] = [];
  if (target === 'cdrom' && bus === 'virtio')
    causes.push(invalidCause(`${at}.cdrom.bus`, bus, 'there is no CD-ROM drive on virtio; use sata or scsi'));
  if (target === 'disk' && bus === 'sata' && readonly)
    causes.push(invalidCause(`${at}.disk.readonly`, true, 'a SATA disk cannot be read-only; use virtio, scsi or a cdrom'));
  if (pciAddress && bus !== 'virtio') causes.push(forbiddenCause(`${at}.${target}.pciAddress`, 'only a virtio disk has a PCI address'));
  if (pciAddress && !PCI_ADDRESS.test(pciAddress))
    causes.push(invalidCause(`${at}.${target}.pciAddress`, pciAddress, 'must be a PCI address such as 0000:81:01.0'));
  if (disk.dedicatedIOThread && bus !== 'virtio')
    causes.push(invalidCause(`${at}.dedicatedIOThread`, true, 'only a virtio disk has a thread of its own'));
  return causes;
}

function optionCauses({ serial, blockSize, io, cache }: CheckedDisk, at: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (io === 'native' && cache && cache !== 'none')
    causes.push(invalidCause(`${at}.io`, io, `needs a disk without a cache of the host: cache none, not ${cache}`));
  if (serial && !SERIAL.test(serial))
    causes.push(invalidCause(`${at}.serial`, serial.slice(0, 64), 'consists of letters, digits and _ . + -, at most 256 of them'));
  if (!blockSize) return causes;
  const { custom, matchVolume } = blockSize;
  if (custom && matchVolume)
    causes.push(invalidCause(`${at}.blockSize`, 'custom, matchVolume', 'custom and matchVolume exclude each other'));
  for (const kind of ['logical', 'physical'] as const) {
    const size = custom?.[kind];
    if (size !== undefined && !(size >= 512 && size <= 2_097_152 && Number.isInteger(Math.log2(size))))
      causes.push(invalidCause(`${at}.blockSize.custom.${kind}`, size, 'must be a power of two between 512 and 2097152'));
  }
  if (custom?.logical !== undefined && custom.physical !== undefined && custom.logical > custom.physical)
    causes.push(invalidCause(`${at}.blockSize.custom.logical`, custom.logical, `must be at most the physical size, ${custom.physical}`));
  const { discardGranularity: discard, logical } = custom ?? {};
  if (discard !== undefined && logical && discard % logical !== 0)
    causes.push(invalidCause(`${at}.blockSize.custom.discardGranularity`, discard, `must be a multiple of the logical size, ${logical}`));
  return causes;
}
