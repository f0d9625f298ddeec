/** Where each kind of ours stands: its record in `src/api/kubevirt/kinds/NAME.ts`, its schema beside it in `NAME-schema.ts`. */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { KindRecord } from '../src/api/kind.ts';
import { KINDS } from '../src/api/kubevirt/kinds-table.ts';
import type { KindSchemas } from '../src/api/schema/crd.ts';

const FOLDER = 'src/api/kubevirt/kinds';

/** A kind with all that is known of it. */
export type FullKind = { readonly record: KindRecord; readonly schemas: KindSchemas };

/** A kind and where its record is: the file, and the name of the constant in it. */
export type KindFile = FullKind & { readonly file: string; readonly constant: string };

/** Every kind that is in the table, in its order. */
export const KIND_FILES: readonly KindFile[] = await readKindFiles(KINDS, FOLDER);

/** The kinds of a folder; throws when one has no record or no schema there. */
export async function readKindFiles(records: readonly KindRecord[], folder: string): Promise<KindFile[]> {
  const root = resolve(import.meta.dirname, '..', folder);
  const files = readdirSync(root).filter((name) => !/(-schema|-table|\.test)\.ts$/.test(name));
  const constants = await Promise.all(
    files.map(async (name) =>
      Object.entries<unknown>(await import(join(root, name))).map(([constant, value]) => ({ name, constant, value })),
    ),
  );
  return Promise.all(
    records.map(async (record) => {
      const found = constants.flat().find(({ value }) => value === record);
      if (!found) throw new Error(`${folder}: no file has the record of ${record.kind}`);
      const { name, constant } = found;
      return { record, constant, file: `${folder}/${name}`, schemas: await schemasIn(folder, name.replace(/\.ts$/, '-schema.ts')) };
    }),
  );
}

async function schemasIn(folder: string, name: string): Promise<KindSchemas> {
  const path = resolve(import.meta.dirname, '..', folder, name);
  const { specSchema, statusSchema }: { specSchema?: KindSchemas['spec']; statusSchema?: KindSchemas['spec'] } = existsSync(path)
    ? await import(path)
    : {};
  if (!specSchema) throw new Error(`${folder}/${name}: there is no specSchema, which a kind has beside its record`);
  return { spec: specSchema, ...(statusSchema && { status: statusSchema }) };
}
