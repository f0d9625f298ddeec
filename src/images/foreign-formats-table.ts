/** Files that are no disk to be run as it is, told by how they begin: they would boot as nonsense if they were taken for raw disks. Pure. */

export type ForeignFormat = (typeof FORMATS)[number][0];

const FORMATS = [
  ['VMDK', 'KDMV', 0],
  ['VMDK', 'COWD', 0],
  ['VMDK', '# Disk DescriptorFile', 0],
  ['VHDX', 'vhdxfile', 0],
  ['VHD', 'conectix', 0],
  ['QED', 'QED\0', 0],
  ['VDI', '\x7f\x10\xda\xbe', 64],
  ['Parallels', 'WithoutFreeSpace', 0],
  ['LUKS', 'LUKS\xba\xbe', 0],
  ['gzip', '\x1f\x8b\x08', 0],
  ['xz', '\xfd7zXZ\0', 0],
  ['zstd', '\x28\xb5\x2f\xfd', 0],
] as const satisfies readonly (readonly [name: string, magic: string, offset: number])[];

/** Which of them begins like this; undefined for a raw disk and for qcow2. */
export function foreignFormatOf(start: Buffer): ForeignFormat | undefined {
  return FORMATS.find(([, magic, offset]) => start.toString('latin1', offset, offset + magic.length) === magic)?.[0];
}
