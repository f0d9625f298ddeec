/** What is taken as it is but deserves a word. */
import { isObject, type JsonObject } from '../../base/json.ts';
import { parseQuantity } from '../../base/quantity.ts';

/** Firmware, kernel and an init program do not fit into less. */
const LEAST_USEFUL_BYTES = 16 * 2 ** 20;

export function vmWarnings(vm: JsonObject): string[] {
  const { running } = part(vm, 'spec');
  const old = running === undefined ? [] : ['spec.running is deprecated, please use spec.runStrategy instead'];
  return [...old, ...templateWarnings(vm)];
}

export function templateWarnings(object: JsonObject): string[] {
  return specWarnings(part(object, 'spec', 'template', 'spec'), 'spec.template.spec');
}

export function vmiWarnings(vmi: JsonObject): string[] {
  return specWarnings(part(vmi, 'spec'), 'spec');
}

function specWarnings(spec: JsonObject, path: string): string[] {
  return [...memoryWarnings(spec, path), ...deviceWarnings(spec, path)];
}

/** What asks for something that cannot be had in this way, without harm to the machine. */
function deviceWarnings(spec: JsonObject, path: string): string[] {
  const devices = part(spec, 'domain', 'devices');
  const { cores, sockets, threads } = part(spec, 'domain', 'cpu');
  const at = `${path}.domain.devices`;
  const hasProcessors = [cores, sockets, threads].some((count) => typeof count === 'number' && count > 1);
  const queues =
    devices['networkInterfaceMultiqueue'] === true && hasProcessors
      ? [`${at}.networkInterfaceMultiqueue: cards on the Pod network have one queue, whatever the number of processors`]
      : [];
  const hasConfigDrive = items(spec['volumes']).some((volume) => 'cloudInitConfigDrive' in volume);
  const tagged = [...items(devices['disks']), ...items(devices['interfaces'])].some(({ tag }) => tag);
  const tags = tagged && !hasConfigDrive ? [`${at}: tags reach the guest by a cloudInitConfigDrive volume, and there is none`] : [];
  return [...queues, ...tags];
}

function items(list: unknown): readonly JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function memoryWarnings(spec: JsonObject, path: string): string[] {
  const fields = [
    ['memory', 'guest'],
    ['resources', 'requests', 'memory'],
    ['resources', 'limits', 'memory'],
  ];
  for (const field of fields) {
    const amount = part(spec, 'domain', ...field.slice(0, -1))[field.at(-1) ?? ''];
    if (typeof amount !== 'string' && typeof amount !== 'number') continue;
    const bytes = parseQuantity(amount);
    if (bytes === undefined || bytes >= LEAST_USEFUL_BYTES) return [];
    return [`${path}.domain.${field.join('.')}: ${amount} is less memory than any guest we know needs to boot`];
  }
  return [];
}

function part(object: JsonObject, ...path: readonly string[]): JsonObject {
  let value: unknown = object;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return isObject(value) ? value : {};
}
