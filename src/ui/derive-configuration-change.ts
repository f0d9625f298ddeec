/** Changes of settings as a patch of the machine, and as the command that makes the same. Pure. */

import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import type { StatusCause } from '../base/errors.ts';
import { isObject, type JsonObject } from '../base/json.ts';
import type { Setting, SettingId } from './derive-configuration.ts';
import { labelsFrom, withPorts, withUserData } from './derive-setting-values.ts';
import { where } from './derive-where.ts';

/** What somebody typed, by setting. */
export type Drafts = Readonly<Partial<Record<SettingId, string>>>;

type Change = (vm: VirtualMachine, text: string) => JsonObject;

const inSpec = (spec: object): JsonObject => ({ spec: { template: { spec } } }) as JsonObject;
const orNull = (text: string) => (text === '' ? null : text);

/** What can be changed here; the rest in its own tab, or as YAML. */
const CHANGES: Readonly<Partial<Record<SettingId, Change>>> = {
  runStrategy: ({ spec }, text) => ({ spec: { runStrategy: text, ...(spec.running !== undefined && { running: null }) } }),
  cpus: ({ spec }, text) => inSpec({ domain: { cpu: cpuOf(spec.template.spec.domain.cpu, text) } }),
  memory: (_, text) => inSpec({ domain: { memory: { guest: orNull(text) } } }),
  ports: ({ spec }, text) => {
    const { interfaces, networks } = withPorts(spec.template.spec, text);
    return inSpec({ domain: { devices: { interfaces } }, networks });
  },
  cloudInit: ({ spec }, text) => {
    const { volumes, disks } = withUserData(spec.template.spec, text);
    return inSpec({ volumes, domain: { devices: { disks } } });
  },
  gracePeriod: (_, text) => inSpec({ terminationGracePeriodSeconds: text === '' ? null : Number(text) }),
  evictionStrategy: (_, text) => inSpec({ evictionStrategy: orNull(text) }),
  nodeSelector: ({ spec }, text) => inSpec({ nodeSelector: mapChange(spec.template.spec.nodeSelector, text) }),
  labels: ({ metadata }, text) => ({ metadata: { labels: mapChange(metadata.labels, text) } }),
  guestLabels: ({ spec }, text) => ({ spec: { template: { metadata: { labels: mapChange(spec.template.metadata?.labels, text) } } } }),
};

/** Whether it can be changed in its row. */
export function isEditable({ id, wanted }: Setting): boolean {
  return id !== 'other' && CHANGES[id] !== undefined && wanted !== 'by its instance type';
}

/** A merge patch; undefined when nothing differs. */
export function derivePatch(vm: VirtualMachine, settings: readonly Setting[], drafts: Drafts): JsonObject | undefined {
  const changed = settings.flatMap((setting) => {
    const draft = setting.id === 'other' ? undefined : drafts[setting.id];
    const change = setting.id === 'other' ? undefined : CHANGES[setting.id];
    return draft === undefined || draft === setting.wanted || !change ? [] : [change(vm, draft)];
  });
  return changed.length === 0 ? undefined : changed.reduce(merged);
}

export function patchCommand({ metadata }: VirtualMachine, patch: JsonObject): string {
  return `kubectl patch vm ${metadata.name}${where(metadata.namespace)} --type merge -p '${JSON.stringify(patch).replaceAll("'", `'\\''`)}'`;
}

/** What the server says about a field, or about what is in it. */
export function messageAt(causes: readonly StatusCause[], path: string): string | undefined {
  const found = causes.filter(({ field }) => field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`));
  return found.length === 0 ? undefined : found.map(({ message }) => message).join('; ');
}

/** As many processors as are asked for, whatever the topology was. */
function cpuOf(cpu: JsonObject = {}, text: string): JsonObject {
  const count = text === '' ? null : Number(text);
  const { sockets, threads } = cpu;
  return { cores: count, ...(sockets !== undefined && { sockets: 1 }), ...(threads !== undefined && { threads: 1 }) };
}

/** A merge patch removes what it says null about. */
function mapChange(before: Readonly<Record<string, string>> = {}, text: string): JsonObject {
  const wanted = labelsFrom(text);
  const gone = Object.keys(before).filter((key) => !(key in wanted));
  return { ...Object.fromEntries(gone.map((key) => [key, null])), ...wanted };
}

function merged(a: JsonObject, b: JsonObject): JsonObject {
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return Object.fromEntries(
    keys.map((key) => {
      const [left, right] = [a[key], b[key]];
      return [key, isObject(left) && isObject(right) ? merged(left, right) : key in b ? right : left];
    }),
  ) as JsonObject; // made of JSON
}
