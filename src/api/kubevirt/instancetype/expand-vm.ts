/**
 * A VM with its instance type and preference written out in the template, as if its author had written all of it there:
 *
 *   instance type   is part of the machine; a template that says the same things is refused
 *   preference      fills in what is left open, and says how processors are arranged and what is needed at least
 *
 * Pure. The one place that knows it: admission asks whether it can be done, virt-controller makes the instance of it, expand-spec shows it.
 */
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { VirtualMachine } from '../kinds/virtual-machine.ts';
import { applyInstancetype, conflictsWith } from './apply-instancetype.ts';
import { applyPreference, preferredAnnotations } from './apply-preference.ts';
import { shortagesOf } from './check-requirements.ts';
import { CHOICE_NAMES, CHOICES, type ChoiceName } from './choices-table.ts';
import type { Chosen } from './chosen.ts';
import { topologyOf } from './cpu-topology.ts';
import type { InstancetypeSpec } from './instancetype-schema.ts';
import type { PreferenceSpec } from './preference-schema.ts';

export type Expansion = { readonly vm: VirtualMachine } | { readonly causes: readonly StatusCause[] };

const TEMPLATE = 'spec.template.spec';

/** The VM without its choices and with all that they say, or every reason why that cannot be. */
export function expandVm(vm: VirtualMachine, chosen: Chosen): Expansion {
  const missing = CHOICE_NAMES.flatMap((choice) => missingCause(choice, chosen));
  if (missing.length > 0) return { causes: missing };
  const instancetype = specOf<InstancetypeSpec>(chosen.instancetype);
  const preference = specOf<PreferenceSpec>(chosen.preference);
  if (!instancetype && !preference) return { vm };
  const { template } = vm.spec;
  const topology = topologyOf(instancetype?.cpu.guest ?? 1, preference);
  const causes = [
    ...(instancetype ? conflictsWith(instancetype, template.spec).map((path) => conflict(`${TEMPLATE}.${path}`)) : []),
    ...annotationConflicts(instancetype, template.metadata?.annotations),
    ...(preference ? shortagesOf(preference, template.spec, instancetype).map(shortageCause) : []),
    ...('why' in topology ? [shortageCause({ field: 'spec.instancetype', why: topology.why })] : []),
  ];
  if (causes.length > 0 || 'why' in topology) return { causes };
  const sized = instancetype ? applyInstancetype(instancetype, template.spec, topology) : template.spec;
  const spec = preference ? applyPreference(preference, sized) : sized;
  const own = { ...template.metadata?.annotations, ...instancetype?.annotations };
  const annotations = preference ? preferredAnnotations(preference, own) : own;
  const metadata = Object.keys(annotations).length > 0 ? { ...template.metadata, annotations } : template.metadata;
  const { instancetype: _, preference: __, ...rest } = vm.spec;
  return { vm: { ...vm, spec: { ...rest, template: { ...template, ...(metadata && { metadata }), spec } } } };
}

/** Annotations that tell what an instance was made with. */
export function choiceAnnotations(chosen: Chosen): Readonly<Record<string, string>> {
  return Object.fromEntries(
    CHOICE_NAMES.flatMap((choice) => {
      const found = chosen[choice];
      if (!found || 'missing' in found) return [];
      const { annotations, kinds } = CHOICES[choice];
      const at = found.object.kind === kinds[1].kind ? 1 : 0;
      return [[annotations[at], found.object.metadata.name]];
    }),
  );
}

function specOf<Spec>(found: Chosen[ChoiceName]): Spec | undefined {
  return found && 'object' in found ? (found.object.spec as Spec) : undefined; // of the kind that was asked for
}

function missingCause(choice: ChoiceName, chosen: Chosen): StatusCause[] {
  const found = chosen[choice];
  if (!found || !('missing' in found)) return [];
  return [{ reason: 'FieldValueNotFound', field: `spec.${choice}`, message: `Failure to find ${choice}: ${found.missing}` }];
}

function conflict(field: string): StatusCause {
  return { reason: 'FieldValueInvalid', field, message: `VM field ${field} conflicts with selected instance type` };
}

function annotationConflicts(type: InstancetypeSpec | undefined, given: Readonly<Record<string, string>> = {}): StatusCause[] {
  return Object.entries(type?.annotations ?? {})
    .filter(([key, value]) => given[key] !== undefined && given[key] !== value)
    .map(([key]) => conflict(`spec.template.metadata.annotations[${key}]`));
}

function shortageCause({ field, why }: { readonly field: string; readonly why: string }): StatusCause {
  return { ...invalidCause(field, undefined, ''), message: `failure checking preference requirements: ${why}` };
}
