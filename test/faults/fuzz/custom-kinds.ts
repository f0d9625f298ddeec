/** Our own kinds as the cluster has them, and manifests that are right. */
import { readdirSync } from 'node:fs';
import type { Schema } from '../../../src/control-plane/apiserver/schema/schema.ts';
import { documents } from '../../../src/virt-api/admission/admission-world.testing.ts';

export type FuzzedKind = {
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: Schema;
  /** Objects of this kind that are taken as they are. */
  readonly examples: readonly object[];
};

type Definition = {
  readonly group: string;
  readonly names: { readonly kind: string; readonly plural: string };
  readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
};

/** Every served version of every definition in deploy/crds. */
export function customKinds(): FuzzedKind[] {
  const examples = ['examples', 'examples/seeds']
    .flatMap((folder) => readdirSync(folder).map((file) => `${folder}/${file}`))
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => documents(file));
  return readdirSync('deploy/crds')
    .flatMap((file) => documents(`deploy/crds/${file}`))
    .map(({ spec }) => spec as Definition)
    .flatMap(({ group, names, versions }) =>
      versions.map(({ name, schema }) => ({
        path: `/apis/${group}/${name}/namespaces/default/${names.plural}`,
        apiVersion: `${group}/${name}`,
        kind: names.kind,
        schema: schema.openAPIV3Schema,
        examples: examples.filter((each) => each?.kind === names.kind),
      })),
    );
}
