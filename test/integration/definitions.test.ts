/** Our definitions in the API server's hands: nothing that the schemas name is dropped, and what is refused gets as far as being refused. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CRDS } from '../../src/api/kubevirt/crds.ts';
import { refusedFields } from '../../src/api/kubevirt/refused-fields.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { objectsOf } from '../../src/control-plane/apiserver/schema/arbitrary.testing.ts';
import { prune } from '../../src/control-plane/apiserver/schema/prune.ts';
import type { Schema } from '../../src/control-plane/apiserver/schema/schema.ts';
import { validate } from '../../src/control-plane/apiserver/schema/validate.ts';
import { type SpecName, specFields } from '../../tools/compatibility/compared.ts';

const INSTANCE: readonly [SpecName, string] = ['VirtualMachineInstanceSpec', 'spec.template.spec'];
const SPECS: Readonly<Record<string, readonly (readonly [SpecName, string])[]>> = {
  VirtualMachine: [['VirtualMachineSpec', 'spec'], INSTANCE],
  VirtualMachineInstance: [['VirtualMachineInstanceSpec', 'spec']],
  VirtualMachineInstanceReplicaSet: [INSTANCE],
  OfflineVirtualMachine: [INSTANCE],
  VirtualMachineInstanceConfig: [INSTANCE],
  KubeVirt: [['KubeVirtSpec', 'spec']],
};

for (const { spec } of CRDS) {
  const { kind } = spec.names;
  const schema = spec.versions[0]?.schema.openAPIV3Schema as Schema; // a definition has a version

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
      for (const [name, root] of SPECS[kind] ?? []) {
        for (const { path, type } of specFields(name).filter((field) => field.type && !field.isHonoured)) {
          const full = `${root}.${path}`;
          const object = objectWith(full.split('.'), someValue(type ?? ''));
          assert.deepEqual(prune(schema, object).value, object, full);
          const complaints = validate(schema, object).filter(({ reason }) => reason !== 'FieldValueRequired'); // the rest of it is not there
          assert.deepEqual(complaints, [], full);
          const refused = refusedFields(kind, object).map(({ field }) => field);
          assert.deepEqual(refused, [full.replaceAll('[]', '[0]')]);
        }
      }
    });
  });
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
