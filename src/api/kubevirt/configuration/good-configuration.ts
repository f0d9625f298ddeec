/** Which configuration of a KubeVirt object is in force: its own when nothing is wrong with it, otherwise the last one that was good. Pure. */
import { isObject } from '../../../base/json.ts';
import type { KubeVirt } from '../kinds/kubevirt.ts';
import type { KubeVirtConfiguration } from './cluster-configuration.ts';
import { configurationCauses } from './configuration-causes.ts';

/** On the KubeVirt object, as JSON: what stays in force when what it says now contradicts itself, also for a component that is started then. */
export const ANNOTATION_GOOD_CONFIGURATION = 'kubevirt.io/last-good-configuration';

/** Undefined when neither is good: whoever has read one before keeps that, others take the defaults. */
export function goodConfigurationOf({ metadata, spec }: KubeVirt): KubeVirtConfiguration | undefined {
  if (configurationCauses(spec.configuration).length === 0) return spec.configuration ?? {};
  const kept = parsed(metadata.annotations?.[ANNOTATION_GOOD_CONFIGURATION]);
  return kept && configurationCauses(kept).length === 0 ? kept : undefined;
}

/** The text of the annotation, when the object is good and the annotation says something else. */
export function newGoodConfiguration({ metadata, spec }: KubeVirt): string | undefined {
  if (configurationCauses(spec.configuration).length > 0) return undefined;
  const text = JSON.stringify(spec.configuration ?? {});
  const before = metadata.annotations?.[ANNOTATION_GOOD_CONFIGURATION];
  return text === before || (before === undefined && text === '{}') ? undefined : text;
}

function parsed(text: string | undefined): KubeVirtConfiguration | undefined {
  try {
    const value: unknown = text === undefined ? undefined : JSON.parse(text);
    return isObject(value) ? (value as KubeVirtConfiguration) : undefined; // our own components wrote what the schema had taken
  } catch {
    return undefined;
  }
}
