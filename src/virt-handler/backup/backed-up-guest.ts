/** What is known of a backup that was made. */
import type { BackupRequest } from '../../api/kubevirt/backup.ts';
import { isObject } from '../../base/json.ts';

export type BackedUpGuest = {
  readonly type: NonNullable<BackupRequest['type']>;
  readonly bytes: number;
  readonly quiesceStatus: NonNullable<BackupRequest['quiesceStatus']>;
};

/** The answer of a Pod is a claim of whoever runs there. */
export function isBackedUpGuest(value: unknown): value is BackedUpGuest {
  return isObject(value) && Number.isSafeInteger(value['bytes']) && Number(value['bytes']) > 0 && typeof value['type'] === 'string';
}
