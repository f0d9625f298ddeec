/** Which instance type or preference goes with a volume: the labels of its claim say it. */
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import { CHOICES, type ChoiceName, kindMeant, type Matcher } from '../../api/kubevirt/instancetype/choices-table.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import type { Client } from '../../client/client.ts';

/** `why` is a sentence; whether it may be ignored is not the same for all: a volume that is not there is a slip of the pen. */
type Inferred = { readonly matcher: Matcher } | { readonly why: string; readonly isIgnorable: boolean };

/** What the volume that the VM names for it says. */
export async function inferChoice(client: Pick<Client, 'get'>, vm: VirtualMachine, choice: ChoiceName): Promise<Inferred> {
  const { inferFromVolume, name, kind } = vm.spec[choice] ?? {};
  if (name || kind) return { why: 'it is found by a volume or named, not both', isIgnorable: false };
  const volume = vm.spec.template.spec.volumes?.find((each) => each.name === inferFromVolume);
  if (!volume) return { why: `unable to find volume ${inferFromVolume} to infer defaults`, isIgnorable: false };
  const claimName = claimOf(volume)?.claimName;
  if (!claimName) return { why: `unable to infer defaults from volume ${inferFromVolume} as type is not supported`, isIgnorable: true };
  const claim = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace: vm.metadata.namespace, name: claimName });
  if (!claim) return { why: `persistentvolumeclaims "${claimName}" not found`, isIgnorable: true };
  const [nameLabel, kindLabel] = CHOICES[choice].labels;
  const found = claim.metadata.labels?.[nameLabel];
  if (!found) return { why: `unable to find required ${nameLabel} label on the volume: PVC ${claimName}`, isIgnorable: true };
  const said = claim.metadata.labels?.[kindLabel];
  return { matcher: { name: found, kind: kindMeant(choice, said)?.kind ?? said } };
}
