/** Where the devices of a machine are, by the word of a real QEMU. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { connectQmp } from '../../qmp/client.ts';
import { startQemu, temporaryFolder } from '../../qmp/qemu.testing.ts';
import type { ConvertInput } from '../input.ts';

type PciDevice = {
  readonly bus: number;
  readonly slot: number;
  readonly function: number;
  readonly qdev_id: string;
  readonly pci_bridge?: { readonly devices?: readonly PciDevice[] };
};

/** The address of each device that has an id, on PCI (`00:03.0`) and on USB (`usb 1.1`). */
export async function realPlaces(t: TestContext, options: { input: ConvertInput; args: readonly string[] }): Promise<Map<string, string>> {
  const folder = await temporaryFolder(t);
  for (const { path } of options.input.files.images.values()) await writeFile(join(folder, path), Buffer.alloc(1024));
  const { qmpPath } = await startQemu(t, { folder, exactArgs: [...options.args, '-S'] });
  const qmp = await connectQmp({ path: qmpPath });
  try {
    const buses = (await qmp.execute('query-pci')) as { devices: PciDevice[] }[]; // as QEMU's schema says
    const usb = String(await qmp.execute('human-monitor-command', { 'command-line': 'info usb' }));
    return new Map([...buses.flatMap(({ devices }) => pciPlaces(devices)), ...usbPlaces(usb)]);
  } finally {
    await qmp.execute('quit');
    qmp.close();
  }
}

function pciPlaces(devices: readonly PciDevice[]): [string, string][] {
  const hex = (number: number) => number.toString(16).padStart(2, '0');
  return devices.flatMap((device) => [
    ...(device.qdev_id ? [[device.qdev_id, `${hex(device.bus)}:${hex(device.slot)}.${device.function}`] as [string, string]] : []),
    ...pciPlaces(device.pci_bridge?.devices ?? []),
  ]);
}

function usbPlaces(text: string): [string, string][] {
  return [...text.matchAll(/Port ([\d.]+), .*ID: (\S+)/g)].map(([, port = '', id = '']) => [id, `usb ${port}`]);
}
