/** What an archive is for is told by its first file, as far as its beginning shows it: names of machines are none that an image of a container has. Pure. */

/** So much of a file shows it: before its header may be one that has only its name, or its times. */
export const ARCHIVE_START_BYTES = 16 * 1024;

const SECTOR = 512;
const MOST_HEADERS = 4;
/** What is in the archive of a machine: its description, manifest and certificate, and disks. */
const OF_MACHINE = /^[^/]*\.(?:ovf|mf|cert|vmdk|vhdx?|vdi|qcow2|raw|img|iso|nvram)(?:\.(?:gz|xz|zst))?$/i;

/** True for a tar of today. */
export function isTar(start: Buffer): boolean {
  return start.toString('latin1', 257, 262) === 'ustar';
}

/** True for a tar that is to be read as a machine. */
export function isOva(start: Buffer): boolean {
  return isTar(start) && OF_MACHINE.test(firstNameIn(start).replace(/^\.\//, ''));
}

/** Empty when it is not shown. */
function firstNameIn(start: Buffer): string {
  let long: string | undefined;
  for (let at = 0, count = 0; at + SECTOR <= start.length && count < MOST_HEADERS; count++) {
    const header = start.subarray(at, at + SECTOR);
    const type = header.toString('latin1', 156, 157);
    const sizeBytes = Number.parseInt(header.toString('latin1', 124, 136), 8) || 0;
    if (!'xgLK'.includes(type)) return long ?? header.toString('utf8', 0, 100).split('\0')[0] ?? '';
    const content = start.toString('utf8', at + SECTOR, at + SECTOR + sizeBytes);
    if (type === 'L') long = content.split('\0')[0];
    if (type === 'x') long = /^\d+ path=(.*)$/m.exec(content)?.[1] ?? long;
    at += SECTOR + Math.ceil(sizeBytes / SECTOR) * SECTOR;
  }
  return '';
}
