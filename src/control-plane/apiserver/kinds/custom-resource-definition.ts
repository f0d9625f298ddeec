/**
 * CustomResourceDefinitions: names are accepted or refused when a definition is written, in the same write, so that
 * what it defines is served before anybody learns that it is established.
 */
import type { Condition } from '../../../api/meta.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { Clock } from '../../../base/clock.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { timestamp } from '../../../base/timestamp.ts';
import type { Store } from '../../store/store.ts';
import { definitionRuleCauses } from '../cel/definition-rules.ts';
import { validateCrd } from '../schema/validate-crd-schema.ts';
import { BUILT_IN_KINDS } from '../types/built-in-kinds-table.ts';
import type { Crd, CrdNames } from '../types/custom-resource-types.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';

/** Holds a deleted definition until its instances are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';
const PREFIX = 'apiextensions.k8s.io/customresourcedefinitions/';

export function crdStrategy({ store, clock }: { store: Store; clock: Clock }): Strategy {
  return {
    prepareCreate(object) {
      const finalizers = [...new Set([...(object.metadata.finalizers ?? []), CLEANUP_FINALIZER])];
      return settled({ ...object, metadata: { ...object.metadata, finalizers } });
    },
    prepareUpdate: (object) => settled(object),
    prepareDeletion: (object) => withCondition(object as Crd, terminating(), clock.now()), // only definitions come here
    validate(object, old) {
      const [crd, before] = [object as Crd, old as Crd | undefined]; // only definitions come here
      const causes = [...validateCrd(object), ...(before ? validateChange(crd, before) : [])];
      return causes.length > 0 ? causes : definitionRuleCauses(crd, before);
    },
  };

  /** The definition with its names completed and its status worked out; one that is not well-formed is left for validation. */
  function settled(object: AnyObject): AnyObject {
    const crd = object as Crd; // only definitions come here
    if (!crd.spec?.names?.kind || !Array.isArray(crd.spec.versions)) return object;
    const names: CrdNames = {
      ...crd.spec.names,
      singular: crd.spec.names.singular || crd.spec.names.kind.toLowerCase(),
      listKind: crd.spec.names.listKind || `${crd.spec.names.kind}List`,
    };
    const complete: Crd = { ...crd, spec: { ...crd.spec, names } };
    const problem = nameConflict(store, complete);
    const stored = crd.spec.versions.find((version) => version.storage)?.name;
    const storedVersions = [...new Set([...(crd.status?.storedVersions ?? []), ...(stored ? [stored] : [])])];
    const status = {
      conditions: [],
      ...crd.status,
      storedVersions,
      acceptedNames: problem ? ((crd.status as { acceptedNames?: object })?.acceptedNames ?? { plural: '', kind: '' }) : names,
    };
    let result: Crd = { ...complete, status };
    for (const condition of conditionsFor(problem)) result = withCondition(result, condition, clock.now());
    return result;
  }
}

function conditionsFor(problem: string | undefined): Condition[] {
  if (problem === undefined) {
    return [
      { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
      { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' },
    ];
  }
  return [
    { type: 'NamesAccepted', status: 'False', reason: 'NameConflict', message: problem },
    { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
  ];
}

function terminating(): Condition {
  return {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionInProgress',
    message: 'CustomResource deletion is in progress',
  };
}

function withCondition(crd: Crd, condition: Condition, nowMs: number): Crd {
  const conditions = (crd.status?.conditions ?? []) as readonly Condition[]; // the registry reads only two fields of them
  const old = conditions.find(({ type }) => type === condition.type);
  if (old && old.status === condition.status && old.reason === condition.reason && old.message === condition.message) return crd;
  const lastTransitionTime = old?.status === condition.status ? old.lastTransitionTime : timestamp(nowMs);
  const others = conditions.filter(({ type }) => type !== condition.type);
  return { ...crd, status: { ...crd.status, conditions: [...others, { ...condition, lastTransitionTime }] } };
}

/** The first name that somebody else in the group already has. */
function nameConflict(store: Store, { metadata, spec }: Crd): string | undefined {
  const others = store
    .list(PREFIX)
    .map(({ value }) => value as Crd) // written through this strategy
    .filter((other) => other.spec.group === spec.group && other.metadata.name !== metadata.name);
  const builtIn = BUILT_IN_KINDS.filter(({ group }) => group === spec.group);
  const words = new Set([
    ...others.flatMap(({ spec: { names } }) => [names.plural, names.singular ?? '', ...(names.shortNames ?? [])]),
    ...builtIn.flatMap(({ plural, shortNames = [] }) => [plural, ...shortNames]),
  ]);
  const kinds = new Set([
    ...others.flatMap(({ spec: { names } }) => [names.kind, names.listKind ?? '']),
    ...builtIn.flatMap(({ kind }) => [kind, `${kind}List`]),
  ]);
  const { plural, singular = '', shortNames = [], kind, listKind = '' } = spec.names;
  const taken =
    [plural, singular, ...shortNames].find((word) => word !== '' && words.has(word)) ?? [kind, listKind].find((word) => kinds.has(word));
  return taken === undefined ? undefined : `${JSON.stringify(taken)} is already in use`;
}

/** A version that objects may still be stored in cannot go; the scope and the names that clients know stay. */
function validateChange(crd: Crd, old: Crd): StatusCause[] {
  const names = crd.spec.versions.map(({ name }) => name);
  const missing = (crd.status?.storedVersions ?? []).filter((name) => !names.includes(name));
  const causes = missing.map((name) =>
    invalidCause('status.storedVersions', name, 'missing from spec.versions; it must remain until no stored object uses it'),
  );
  if (crd.spec.scope !== old.spec.scope) causes.push(invalidCause('spec.scope', crd.spec.scope, 'field is immutable'));
  if (crd.spec.group !== old.spec.group) causes.push(invalidCause('spec.group', crd.spec.group, 'field is immutable'));
  if (crd.spec.names.kind !== old.spec.names.kind) causes.push(invalidCause('spec.names.kind', crd.spec.names.kind, 'field is immutable'));
  return causes;
}
