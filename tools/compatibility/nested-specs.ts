/** Where the spec of one kind stands inside that of another, as that of an instance does in every template: what is refused there is refused for its reasons. */
import { type StructuralSchema, structural } from '../../src/api/schema/structural.ts';
import { deepEqual, isObject } from '../../src/base/json.ts';
import { type FullKind, KIND_FILES } from '../kind-files.ts';

/** `at` is a path with its dot: `template.spec.`. */
export type NestedSpec = { readonly at: string; readonly of: FullKind };

const SPECS = KIND_FILES.map((of) => ({ of, spec: structural(of.schemas.spec) }));

/** The outermost ones in the spec of a kind. Two specs are the same when they have the same fields. */
export function nestedSpecs({ schemas }: FullKind): NestedSpec[] {
  return nestedIn(structural(schemas.spec), '');
}

function nestedIn(schema: StructuralSchema, prefix: string): NestedSpec[] {
  const { properties } = schema;
  if (!isObject(properties)) return [];
  return Object.entries(properties).flatMap(([name, property]) => {
    const items = isObject(property) ? property['items'] : undefined;
    const [inner, at] = isObject(items) ? [items, `${prefix}${name}[].`] : [property, `${prefix}${name}.`];
    if (!isObject(inner)) return [];
    const of = SPECS.find(({ spec }) => hasSameFields(inner, spec))?.of;
    return of ? [{ at, of }] : nestedIn(inner, at);
  });
}

function hasSameFields({ properties: these }: StructuralSchema, { properties: those }: StructuralSchema): boolean {
  return isObject(these) && isObject(those) && Object.keys(these).length > 0 && deepEqual(these, those);
}
