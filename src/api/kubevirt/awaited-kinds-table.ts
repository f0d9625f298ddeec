/**
 * Published kinds whose features are not here yet. Their groups answer as those of any installation: lists are empty, watches wait, collections
 * can be deleted; scripts that clean up across all groups need that. Whoever makes an object is told why there can be none.
 */
import { type KindRecord, kind, type PrinterColumn } from '../kind.ts';
import type { KubeObject } from '../meta.ts';
import { USUAL_ROLES } from './usual-roles.ts';

/** A kind without a schema: no object of it is ever stored. */
export type AwaitedKind = KindRecord & { readonly awaits: string };

const text = (name: string, jsonPath: string): PrinterColumn => ({ name, type: 'string', jsonPath });
const SOURCE = [text('SourceKind', '.spec.source.kind'), text('SourceName', '.spec.source.name')];

const BACKUP = 'incremental backup is not supported yet';

type Versions = KindRecord['versions'];
type Facts = {
  readonly group: string;
  readonly kind: string;
  readonly plural?: string;
  readonly shortNames?: readonly string[];
  readonly versions: Versions;
  readonly isNamespaced?: boolean;
  readonly columns?: readonly PrinterColumn[];
  readonly awaits: string;
};

export const AWAITED_KINDS: readonly AwaitedKind[] = [
  awaited({ group: 'backup.kubevirt.io', kind: 'VirtualMachineBackup', shortNames: ['vmbackup', 'vmbackups'], versions: ['v1alpha1'], columns: SOURCE, awaits: BACKUP }), // biome-ignore format: a table
  awaited({ group: 'backup.kubevirt.io', kind: 'VirtualMachineBackupTracker', shortNames: ['vmbackuptracker', 'vmbackuptrackers'], versions: ['v1alpha1'], columns: SOURCE, awaits: BACKUP }), // biome-ignore format: a table
];

function awaited({ awaits, columns = [], shortNames = [], ...facts }: Facts): AwaitedKind {
  const record = kind<KubeObject>({
    plural: `${facts.kind.toLowerCase()}s`,
    ...facts,
    ...{ columns, shortNames, roles: USUAL_ROLES, access: {} },
    description: `No object of this kind can be made: ${awaits}.`,
    subresources: { status: {} },
  });
  return { ...record, awaits };
}
