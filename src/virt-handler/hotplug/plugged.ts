/** What is plugged into a QEMU that runs, as QMP tells it: the observation on which hotplug decides. */
import { isObject } from '../../base/json.ts';
import type { QmpClient } from '../../qemu/qmp/client.ts';

/** Where a device is: the bus by its last name, and its number there on a SCSI bus. */
export type PluggedDevice = { readonly bus: string; readonly target?: number };
export type Plugged = {
  /** Those that have an id, by it. */
  readonly devices: Readonly<Record<string, PluggedDevice>>;
  /** Block nodes by name. */
  readonly nodes: readonly string[];
  /** The block node in each CD-ROM drive, by the id of the drive; the empty text for an empty one. */
  readonly media?: Readonly<Record<string, string>>;
  /** How large what each of these shows is, in bytes. */
  readonly sizes?: Readonly<Record<string, number>>;
  /** Volumes whose disks were to grow when the guest was started, and could not. */
  readonly behind?: readonly string[];
  /** Root ports that something can be plugged into. */
  readonly ports: readonly string[];
};

const PERIPHERAL = '/machine/peripheral';
const PORT = 'child<pcie-root-port>';

/** Asks for it; changes nothing. */
export async function askPlugged(qmp: Pick<QmpClient, 'execute'>): Promise<Plugged> {
  const children = namedIn(await qmp.execute('qom-list', { path: PERIPHERAL }));
  const ports = children.filter(({ type }) => type === PORT).map(({ name }) => name);
  const devices: Record<string, PluggedDevice> = {};
  for (const { name, type } of children) {
    if (type === PORT || !type.startsWith('child<')) continue;
    devices[name] = await placeOf(qmp, name, type);
  }
  const nodes = await qmp.execute('query-named-block-nodes', { flat: true });
  return {
    devices,
    ports,
    nodes: Array.isArray(nodes) ? nodes.map((node: unknown) => (isObject(node) ? String(node['node-name']) : '')) : [],
    media: mediaIn(await qmp.execute('query-block')),
    sizes: Object.fromEntries(Array.isArray(nodes) ? nodes.flatMap(sizeIn) : []),
  };
}

/** Drives are told by the path of their device. */
function mediaIn(answer: unknown): Record<string, string> {
  if (!Array.isArray(answer)) return {};
  return Object.fromEntries(
    answer.flatMap((each: unknown): [string, string][] => {
      if (!isObject(each) || each['removable'] !== true || typeof each['qdev'] !== 'string') return [];
      const inserted = each['inserted'];
      return [[each['qdev'].split('/').at(-1) ?? '', isObject(inserted) ? String(inserted['node-name']) : '']];
    }),
  );
}

function sizeIn(node: unknown): [string, number][] {
  const image = isObject(node) ? node['image'] : undefined;
  const bytes = isObject(image) ? image['virtual-size'] : undefined;
  return isObject(node) && typeof bytes === 'number' ? [[String(node['node-name']), bytes]] : [];
}

async function placeOf(qmp: Pick<QmpClient, 'execute'>, name: string, type: string): Promise<PluggedDevice> {
  const path = `${PERIPHERAL}/${name}`;
  const bus =
    String(await qmp.execute('qom-get', { path, property: 'parent_bus' }))
      .split('/')
      .at(-1) ?? '';
  if (!/^child<scsi-/.test(type)) return { bus };
  const target = await qmp.execute('qom-get', { path, property: 'scsi-id' });
  return typeof target === 'number' ? { bus, target } : { bus };
}

function namedIn(answer: unknown): { name: string; type: string }[] {
  if (!Array.isArray(answer)) return [];
  return answer.flatMap((each: unknown) => (isObject(each) ? [{ name: String(each['name']), type: String(each['type']) }] : []));
}
