/** A machine that writes numbered lines onto a disk, each synced before the next, and what the host finds there. */
import { closeSync, openSync, readSync } from 'node:fs';

const SECTOR = 512;

/** The machine, and the claim for its lines; with `isKept` its other disk is on a claim, too, so that it can be suspended. */
export function lineWriter(name: string, { isKept = false }: { readonly isKept?: boolean } = {}): object[] {
  const image = 'localhost/guests/tiny:latest';
  const root = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: `${name}-root`, annotations: { 'kubevirt.io/disk-image': image } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '256Mi' } } },
  };
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
  };
  const userData = `#!/bin/sh
(
  i=0
  while :; do
    i=$((i + 1))
    echo "line $i of ${name}" | dd of=/dev/vdb bs=${SECTOR} seek=$i conv=sync,fsync 2>/dev/null
    usleep 300000
  done
) &
`;
  const disks = ['root', 'lines', 'cloudinit'].map((disk) => ({ name: disk, disk: { bus: 'virtio' } }));
  const volumes = [
    { name: 'root', ...(isKept ? { persistentVolumeClaim: { claimName: `${name}-root` } } : { containerDisk: { image } }) },
    { name: 'lines', persistentVolumeClaim: { claimName: name } },
    { name: 'cloudinit', cloudInitNoCloud: { userData } },
  ];
  const domain = { memory: { guest: '128Mi' }, devices: { disks } };
  const spec = { domain, volumes, terminationGracePeriodSeconds: 10 };
  const machine = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name },
    spec: { runStrategy: 'Always', template: { spec } },
  };
  return [...(isKept ? [root] : []), claim, machine];
}

/** How many lines there are; throws when one of them is missing or not what the machine wrote. */
export function countLines(disk: string, name: string): number {
  using file = opened(disk);
  let last = 0;
  let gap = 0;
  const sector = Buffer.alloc(SECTOR);
  for (let place = 1; readSync(file.descriptor, sector, 0, SECTOR, place * SECTOR) === SECTOR; place += 1) {
    const text = sector.toString('latin1').replace(/[\0]+$/, '');
    if (text === '') {
      gap ||= place;
      if (place - gap > 1_000) break; // nothing but the rest of an empty disk
      continue;
    }
    if (gap > 0) throw new Error(`${name}: line ${gap} is missing, and line ${place} is there`);
    if (text !== `line ${place} of ${name}\n`) throw new Error(`${name}: line ${place} is ${JSON.stringify(text)}`);
    last = place;
  }
  return last;
}

function opened(path: string): Disposable & { readonly descriptor: number } {
  const descriptor = openSync(path, 'r');
  return { descriptor, [Symbol.dispose]: () => closeSync(descriptor) };
}
