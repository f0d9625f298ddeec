/**
 * Strategic merge patch as patches of components need it: lists whose items have names are merged item by item, all others are replaced.
 * `$patch: delete` and `$patch: replace` are understood, in maps and as items; other directives are refused.
 */
import { isObject, type JsonObject } from '../../base/json.ts';

/** By what items of a list are told apart. */
const MERGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  containers: ['name'],
  initContainers: ['name'],
  ephemeralContainers: ['name'],
  volumes: ['name'],
  env: ['name'],
  imagePullSecrets: ['name'],
  webhooks: ['name'],
  hostAliases: ['ip'],
  volumeMounts: ['mountPath'],
  volumeDevices: ['devicePath'],
  ports: ['containerPort', 'port'],
};

/** The object with the patch applied; neither is changed. */
export function strategicPatch(target: JsonObject, patch: JsonObject): JsonObject {
  const { $patch: directive, ...fields } = patch;
  if (directive === 'replace') return fields;
  if (directive === 'delete') return {};
  if (directive !== undefined && directive !== 'merge') throw new Error(`unknown directive $patch: ${String(directive)}`);
  const result: JsonObject = { ...target };
  for (const [name, value] of Object.entries(fields)) {
    if (name === '__proto__') continue;
    if (name.startsWith('$')) throw new Error(`the directive ${name} is not supported; use a patch of type json`);
    const before = result[name];
    if (value === null) delete result[name];
    else if (isObject(value)) result[name] = strategicPatch(isObject(before) ? before : {}, value);
    else result[name] = Array.isArray(value) ? patchedList(Array.isArray(before) ? before : [], value, MERGE_KEYS[name] ?? []) : value;
  }
  return result;
}

function patchedList(before: readonly unknown[], items: readonly unknown[], keys: readonly string[]): unknown[] {
  const key = keys.find((each) => items.every((item) => isObject(item) && (each in item || item['$patch'] === 'replace')));
  if (key === undefined) return [...items];
  const changes = items.filter(isObject);
  if (changes.some((item) => item['$patch'] === 'replace')) return changes.filter((item) => item['$patch'] !== 'replace');
  const result = [...before];
  for (const { $patch: directive, ...change } of changes) {
    const at = result.findIndex((item) => isObject(item) && item[key] === change[key]);
    const found = result[at];
    if (directive === 'delete') result.splice(at, at < 0 ? 0 : 1);
    else if (isObject(found)) result[at] = strategicPatch(found, change);
    else result.push(strategicPatch({}, change));
  }
  return result;
}
