/** MigrationPolicy: what cannot be had is refused, by name. Pure. */
import { type MigrationConfiguration, migrationCauses } from '../../api/kubevirt/configuration/migration-settings.ts';
import type { StatusCause } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';

export function validateMigrationPolicy({ spec }: JsonObject): StatusCause[] {
  return isObject(spec) ? migrationCauses(spec as MigrationConfiguration, 'spec') : []; // the schema has checked the types
}
