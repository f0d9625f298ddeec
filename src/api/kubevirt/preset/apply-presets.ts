/**
 * Presets upon an instance that is being made. Part by part of the domain (each request is a part of its own):
 *
 *   two presets say different things of a part      the instance is refused
 *   the instance says nothing of it                 it is given what the preset says
 *   the instance says the same                      as if it had been given
 *   the instance says something else                it stays: the preset is overridden there
 *
 * Pure. Presets that are not meant, or that an annotation of the instance excludes, are not looked at.
 */
import { deepEqual, isObject, type JsonObject } from '../../../base/json.ts';
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import { isDeleting } from '../../meta.ts';
import {
  ANNOTATION_EXCLUDE_PRESETS,
  ANNOTATION_OVERRIDDEN_PRESETS,
  PREFIX_APPLIED_PRESET,
  type VirtualMachineInstancePreset,
} from '../kinds/vmi-preset.ts';

type Part = { readonly path: readonly string[]; readonly value: unknown };
type Conflict = { readonly presets: readonly [string, string]; readonly path: string };
export type Overridden = { readonly preset: string; readonly paths: readonly string[] };
export type WithPresets =
  | { readonly object: JsonObject; readonly overridden: readonly Overridden[] }
  | { readonly conflicts: readonly Conflict[] };

const WHOLE_PARTS: readonly (readonly string[])[] = [
  ['cpu'],
  ['firmware'],
  ['clock'],
  ['features'],
  ['ioThreadsPolicy'],
  ['devices', 'watchdog'],
];
const REQUESTS = ['resources', 'requests'];
/** The name part of an annotation is no longer. */
const LONGEST_NAME = 63;
const LONGEST_NOTE = 1_000;
/** As KubeVirt writes it, whatever the version of the preset. */
const APPLIED = 'kubevirt.io/v1';

/** The instance with what its presets give, and annotations that tell of them; the same object when none is meant. */
export function applyPresets(object: JsonObject, presets: readonly VirtualMachineInstancePreset[]): WithPresets {
  const { labels, annotations } = mapsOf(object);
  const domain = domainOf(object);
  if (!domain || annotations[ANNOTATION_EXCLUDE_PRESETS] === 'true') return { object, overridden: [] };
  const meant = presets
    .filter((preset) => !isDeleting(preset) && matchesLabels(requirementsOf(preset.spec.selector ?? {}), labels))
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const conflicts = conflictsAmong(meant);
  if (conflicts.length > 0) return { conflicts };
  const outcomes = meant.map((preset) => ({ name: preset.metadata.name, parts: partsOf(preset).map((part) => ({ ...part, is: standing(domain, part) })) })); // biome-ignore format: one object
  const given = outcomes.flatMap(({ parts }) => parts).filter(({ is }) => is === 'open');
  const overridden = outcomes
    .map(({ name, parts }) => ({ preset: name, paths: parts.filter(({ is }) => is === 'other').map(({ path }) => textOf(path)) }))
    .filter(({ paths }) => paths.length > 0);
  const applied = outcomes.filter(({ parts }) => parts.some(({ is }) => is !== 'other')).map(({ name }) => name);
  const told = { ...annotationsFor(applied), ...noteOf(overridden) };
  if (given.length === 0 && Object.keys(told).length === 0) return { object, overridden };
  const changed = withParts(domain, given);
  const { metadata, spec } = object as { metadata: JsonObject; spec: JsonObject }; // there is a domain in it, and the server has named it
  return {
    object: { ...object, metadata: { ...metadata, annotations: { ...annotations, ...told } }, spec: { ...spec, domain: changed } },
    overridden,
  };
}

function conflictsAmong(presets: readonly VirtualMachineInstancePreset[]): Conflict[] {
  const said = new Map<string, { readonly preset: string; readonly value: unknown }>();
  return presets.flatMap((preset) =>
    partsOf(preset).flatMap(({ path, value }) => {
      const key = textOf(path);
      const before = said.get(key);
      if (!before) said.set(key, { preset: preset.metadata.name, value });
      if (!before || deepEqual(before.value, value)) return [];
      return [{ presets: [before.preset, preset.metadata.name] as const, path: key }];
    }),
  );
}

function partsOf({ spec }: VirtualMachineInstancePreset): Part[] {
  const requests = valueAt(spec.domain, REQUESTS);
  const ofRequests = Object.entries(isObject(requests) ? requests : {}).map(([name, value]) => ({ path: [...REQUESTS, name], value }));
  return [...ofRequests, ...WHOLE_PARTS.map((path) => ({ path, value: valueAt(spec.domain, path) }))].filter(({ value }) => isSaid(value));
}

function standing(domain: JsonObject, { path, value }: Part): 'open' | 'same' | 'other' {
  const own = valueAt(domain, path);
  if (!isSaid(own)) return 'open';
  return deepEqual(own, value) ? 'same' : 'other';
}

/** The empty text and the empty map say nothing. */
function isSaid(value: unknown): boolean {
  return !(value === undefined || value === null || value === '' || (isObject(value) && Object.keys(value).length === 0));
}

function annotationsFor(names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.filter((name) => name.length <= LONGEST_NAME).map((name) => [`${PREFIX_APPLIED_PRESET}${name}`, APPLIED]),
  );
}

function noteOf(overridden: readonly Overridden[]): Readonly<Record<string, string>> {
  const note = overridden.map(({ preset, paths }) => `${preset}: ${paths.join(', ')}`).join('; ');
  return note === '' ? {} : { [ANNOTATION_OVERRIDDEN_PRESETS]: note.slice(0, LONGEST_NOTE) };
}

/** All at once: there may be thousands of requests, and each object on the way is copied once. */
function withParts(object: JsonObject, parts: readonly Part[]): JsonObject {
  const fields = [...Map.groupBy(parts, ({ path: [field = ''] }) => field)].map(([field, those]) => {
    const deeper = those.filter(({ path }) => path.length > 1).map(({ path: [, ...rest], value }) => ({ path: rest, value }));
    const inner = object[field];
    return [field, deeper.length > 0 ? withParts(isObject(inner) ? inner : {}, deeper) : those.at(-1)?.value] as const;
  });
  return { ...object, ...Object.fromEntries(fields) };
}

function valueAt(object: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, field) => (isObject(value) && Object.hasOwn(value, field) ? value[field] : undefined), object);
}

function domainOf({ spec }: JsonObject): JsonObject | undefined {
  return isObject(spec) && isObject(spec['domain']) ? spec['domain'] : undefined;
}

function mapsOf({ metadata }: JsonObject): Readonly<Record<'labels' | 'annotations', Readonly<Record<string, string>>>> {
  const map = (field: string) => (isObject(metadata) && isObject(metadata[field]) ? metadata[field] : {}) as Record<string, string>; // of texts, as the server has checked
  return { labels: map('labels'), annotations: map('annotations') };
}

function textOf(path: readonly string[]): string {
  return path.join('.');
}
