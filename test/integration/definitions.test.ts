/** Our definitions in the API server's hands: nothing that the schemas name is dropped, and what is refused gets as far as being refused. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { refusedFields } from '../../src/api/kubevirt/refused-fields.ts';
import type { ComparedField } from '../../src/api/schema/published.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { objectsOf } from '../../src/control-plane/apiserver/schema/arbitrary.testing.ts';
import { prune } from '../../src/control-plane/apiserver/schema/prune.ts';
import type { Schema } from '../../src/control-plane/apiserver/schema/schema.ts';
import { validate } from '../../src/control-plane/apiserver/schema/validate.ts';
import { specFields } from '../../tools/compatibility/compared.ts';
import { nestedSpecs } from '../../tools/compatibility/nested-specs.ts';
import { crdOf } from '../../tools/crds.ts';
import { type FullKind, KIND_FILES } from '../../tools/kind-files.ts';

for (const full of KIND_FILES) {
  const { kind } = full.record;
  const schema = crdOf(full).spec.versions[0]?.schema.openAPIV3Schema as Schema; // a definition has a version

  describe(kind, () => {
    test('what follows the schema is kept whole', () => {
      fc.assert(
        fc.property(objectsOf(schema, 8), (object) => {
          assert.deepEqual(prune(schema, object), { value: object, unknown: [] });
        }),
        { numRuns: 100 },
      );
    });

    test('every refused field passes the schema and is refused by its path', () => {
      for (const { path, type } of allFields(full).filter((field) => field.type && !field.isHonoured)) {
        const object = objectWith(path.split('.'), someValue(type ?? ''));
        assert.deepEqual(prune(schema, object).value, object, path);
        const complaints = validate(schema, object).filter(({ reason }) => reason !== 'FieldValueRequired'); // the rest of it is not there
        assert.deepEqual(complaints, [], path);
        const refused = refusedFields(kind, object).map(({ field }) => field);
        assert.deepEqual(refused, [path.replaceAll('[]', '[0]')]);
      }
    });
  });
}

/** Those of the specs inside it, too. */
function allFields(full: FullKind, prefix = 'spec.'): ComparedField[] {
  const inner = nestedSpecs(full).flatMap(({ at, of }) => allFields(of, `${prefix}${at}`));
  return [...specFields(full).map((field) => ({ ...field, path: `${prefix}${field.path}` })), ...inner];
}

function objectWith([first = '', ...rest]: readonly string[], value: unknown): JsonObject {
  const inner = rest.length === 0 ? value : objectWith(rest, value);
  return first.endsWith('[]') ? { [first.slice(0, -2)]: [inner] } : { [first]: inner };
}

function someValue(type: string): unknown {
  if (type === 'boolean') return true;
  if (type === 'integer') return 7;
  if (type === 'string' || type === 'quantity') return '7';
  return type.startsWith('[]') ? [{ name: 'x' }] : { name: 'x' };
}
