/**
 * What the board of an instance is given:
 *
 *   features         acpi on; every feature that is there is on unless it says otherwise; spinlocks try 4096 times;
 *                    Hyper-V features bring along what they need: synictimer synic, synic, tlbflush and ipi vpindex, evmcs vapic and vmx
 *   clock.timer      every timer that is there is present unless it says otherwise
 *   inputs           tablets on usb; one when autoattachInputDevice asks for one and none is listed
 *   watchdog         i6300esb, which resets
 *
 * What has another shape than expected is left for the schema to refuse.
 */
import { isObject, type JsonObject } from '../../base/json.ts';

const SPINLOCK_RETRIES = 4096;
const NEEDS: readonly [feature: string, needed: string][] = [
  ['synictimer', 'synic'],
  ['synic', 'vpindex'],
  ['tlbflush', 'vpindex'],
  ['ipi', 'vpindex'],
  ['evmcs', 'vapic'],
];

/** The fields of the domain that are filled in, each only where it has the right shape. */
export function defaultBoard(domain: JsonObject): JsonObject {
  const { features, clock } = domain;
  return {
    ...(features === undefined || isObject(features) ? { features: defaultFeatures(features ?? {}) } : {}),
    ...(isObject(clock) && isObject(clock['timer']) ? { clock: { ...clock, timer: eachWith(clock['timer'], 'present') } } : {}),
  };
}

/** The processor features that the platform features cannot do without. */
export function neededCpuFeatures({ features }: JsonObject, given: unknown): JsonObject {
  const hyperv = isObject(features) && isObject(features['hyperv']) ? features['hyperv'] : {};
  const list = given === undefined ? [] : given;
  const isThere = !Array.isArray(list) || list.some((each) => isObject(each) && each['name'] === 'vmx');
  return isOn(hyperv['evmcs']) && !isThere ? { features: [...list, { name: 'vmx', policy: 'require' }] } : {};
}

/** Input devices and the watchdog. */
export function defaultExtras({ inputs, autoattachInputDevice, watchdog }: JsonObject): JsonObject {
  const wanted = autoattachInputDevice === true && (inputs === undefined || isEmptyList(inputs)) ? [{ name: 'default-0' }] : inputs;
  const areInputs = Array.isArray(wanted) && wanted.every(isObject);
  return {
    ...(areInputs && { inputs: wanted.map((each) => ({ ...each, type: each['type'] || 'tablet', bus: each['bus'] || 'usb' })) }),
    ...(isObject(watchdog) && { watchdog: defaultWatchdog(watchdog) }),
  };
}

function defaultFeatures(features: JsonObject): JsonObject {
  const { acpi = {}, hyperv, kvm } = features;
  const switches = eachWith({ ...features, acpi }, 'enabled', ['hyperv', 'kvm']);
  return { ...switches, ...(kvm !== undefined && { kvm }), ...(hyperv !== undefined && { hyperv: defaultHyperv(hyperv) }) };
}

function defaultHyperv(hyperv: unknown): unknown {
  if (!isObject(hyperv)) return hyperv;
  const filled = { ...eachWith(hyperv, 'enabled') };
  const { spinlocks } = filled;
  if (isObject(spinlocks) && isOn(spinlocks)) filled['spinlocks'] = { ...spinlocks, spinlocks: spinlocks['spinlocks'] ?? SPINLOCK_RETRIES };
  for (const [feature, needed] of NEEDS) if (isOn(filled[feature])) filled[needed] = { ...record(filled[needed]), enabled: true };
  return filled;
}

/** Every part that is there says in words that it is. */
function eachWith(parts: JsonObject, word: 'enabled' | 'present', except: readonly string[] = []): JsonObject {
  const filled = Object.entries(parts).map(([name, part]) => {
    if (!isObject(part) || except.includes(name)) return [name, part] as const;
    return [name, { ...part, [word]: part[word] ?? true }] as const;
  });
  return Object.fromEntries(filled);
}

function defaultWatchdog(watchdog: JsonObject): JsonObject {
  const { i6300esb, diag288 } = watchdog;
  if (diag288 !== undefined || (i6300esb !== undefined && !isObject(i6300esb))) return watchdog;
  return { ...watchdog, i6300esb: { ...i6300esb, action: i6300esb?.['action'] || 'reset' } };
}

function isOn(feature: unknown): boolean {
  return isObject(feature) && feature['enabled'] !== false;
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function record(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}
