/** CDIConfig: where clients of CDI send disks; one object, called `config`. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE } from '../columns.ts';
import type { specSchema, statusSchema } from './cdi-config-schema.ts';
import { CDI_GROUP } from './data-volume.ts';

export type CdiConfig = KubeObject & {
  readonly kind: 'CDIConfig';
  readonly spec: Static<typeof specSchema>;
  readonly status?: Static<typeof statusSchema>;
};

/** The one that clients read. */
export const CDI_CONFIG_NAME = 'config';

/** What it says is for everybody to see; who may change it, may change where disks are sent. */
const LOOK = ['get', 'list', 'watch'] as const;
const OF_CDI = 'there is nothing here that it would change';

export const CDI_CONFIGS = kind<CdiConfig>({
  group: CDI_GROUP,
  kind: 'CDIConfig',
  plural: 'cdiconfigs',
  shortNames: [],
  isNamespaced: false,
  description: 'Where clients send disks.',
  versions: ['v1beta1'],
  remark: 'ours where no CDI is installed; an embedded cluster makes and keeps `config`',
  columns: [AGE],
  subresources: { status: {} },
  roles: { view: LOOK, edit: LOOK, admin: LOOK, everybody: LOOK },
  access: {},
  refused: {
    dataVolumeTTLSeconds: OF_CDI,
    featureGates: OF_CDI,
    filesystemOverhead: OF_CDI,
    imagePullSecrets: OF_CDI,
    importProxy: OF_CDI,
    insecureRegistries: OF_CDI,
    logVerbosity: OF_CDI,
    podResourceRequirements: OF_CDI,
    preallocation: OF_CDI,
    scratchSpaceStorageClass: OF_CDI,
    tlsSecurityProfile: OF_CDI,
  },
});
