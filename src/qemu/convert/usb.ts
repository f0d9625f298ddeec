/**
 * Ports of a USB controller. The last one has a hub, at which the last device sits: it is where QEMU put it when it was left to choose, and
 * devices stay where guests have found them.
 */
import type { Device } from './machine-model.ts';

type Controller = { readonly controller: string; readonly ports: number; readonly port: number };

/** A device at a port, counted from 1, with the hub that it may need. */
export function usbDevice({ controller, ports, port }: Controller, device: Pick<Device, 'id' | 'driver' | 'properties'>): Device[] {
  const bus = `${controller}.0`;
  const at = (path: string) => ({ kind: 'usb', bus, port: path }) as const;
  if (port < ports) return [{ part: 'device', ...device, place: at(String(port)) }];
  return [
    { part: 'device', id: `${controller}-hub`, driver: 'usb-hub', place: at(String(port)), properties: {} },
    { part: 'device', ...device, place: at(`${port}.1`) },
  ];
}
