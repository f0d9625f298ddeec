/** How objects are completed on their way into the store: what rules are given for it, and what they answer. */
import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import type { StatusCause } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import type { FollowedPresets } from '../../client/follow-presets.ts';
import type { PatchOperation } from './decide-mutation.ts';

/** What completes an object, with what its author should know; or why it cannot be completed. */
export type Completion =
  | { readonly patch: readonly PatchOperation[]; readonly warnings: readonly string[] }
  | { readonly causes: readonly StatusCause[] };

/** What rules cannot know by themselves; `now` is as it is written into objects, `configuration` that of the installation. */
export type Given = {
  readonly newUuid: string;
  readonly now: string;
  readonly configuration: ClusterConfiguration;
  readonly client: Client;
  readonly presets: FollowedPresets;
};
