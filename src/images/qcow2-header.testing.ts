/** The beginning of a qcow2 image, of version 2, with what a test wants in it. */
export function qcow2Start({
  sizeBytes = 2 ** 20,
  backingAt = 0,
}: {
  readonly sizeBytes?: number;
  readonly backingAt?: number;
} = {}): Buffer {
  const bytes = Buffer.alloc(512);
  bytes.write('QFI\xfb', 'latin1');
  bytes.writeUInt32BE(2, 4);
  bytes.writeBigUInt64BE(BigInt(backingAt), 8);
  bytes.writeUInt32BE(16, 20);
  bytes.writeBigUInt64BE(BigInt(sizeBytes), 24);
  return bytes;
}
