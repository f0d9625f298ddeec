/**
 * What somebody asks of a guest while it is moved: it is looked at again at the node, at the moment at which QEMU is told. Whoever asked has looked before, and may
 * have been slow: a guest that was handed over meanwhile would run twice. Pure.
 */
import { isOnItsWay } from '../../api/kubevirt/exclusive-operations.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Domain } from '../vmi/domain.ts';
import { isSending } from './begin-hindrance.ts';

type Seen = {
  /** Undefined when it is not of this node. */
  readonly vmi: VirtualMachineInstance | undefined;
  readonly domain: Domain;
};

/** Why a guest is not paused, let go on or reset now; undefined when it is. */
export function actHindranceOf({ vmi, domain }: Seen): string | undefined {
  if (!vmi) return 'the instance is not of this node';
  const { migrationState, suspension } = vmi.status ?? {};
  const isSwitched = domain.state === 'switching' || domain.state === 'incoming';
  if (isSending({ domain }) || isSwitched || isOnItsWay(migrationState)) return 'VMI is being migrated';
  if (suspension !== undefined && suspension.phase !== 'Failed') return 'VMI is being suspended or resumed';
  // It was paused when it was sent in vain.
  const isBack = migrationState?.failed === true;
  return domain.state === 'moved' && !isBack ? 'the guest was sent to another node' : undefined;
}
