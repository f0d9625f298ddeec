/**
 * What a running machine shows of moves to other nodes, as lines of evidence. Pure.
 *
 *   it is being moved           from where, to where, and how much is left
 *   it has to leave its node    which one, as an eviction has asked
 *   its last move failed        why
 *   it cannot be moved          the reason and the sentence of its condition
 *   it can                      says so
 *   nobody has looked yet       nothing
 */
import { vmiCondition } from '../../api/kubevirt/condition-reasons.ts';
import { isMoving, type MigrationState } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';

export function moveEvidence(vmi: VirtualMachineInstance): readonly string[] {
  const { migrationState: state, evacuationNodeName } = vmi.status ?? {};
  const last = state?.failed ? [`its last move failed: ${state.failureReason ?? 'nobody says why'}`] : [];
  if (state && isMoving(state)) return [movingLine(state)];
  const leaves = evacuationNodeName ? [`has to leave node ${evacuationNodeName}: its Pod was to be evicted`] : [];
  return [...leaves, ...last, ...movableLines(vmi)];
}

function movingLine({ sourceNode, targetNode, progress }: MigrationState): string {
  const left = progress ? `, ${progress.stage.toLowerCase()}: ${Math.ceil(progress.bytesLeft / 2 ** 20)}Mi left` : '';
  return `is being moved from ${sourceNode} to ${targetNode}${left}`;
}

function movableLines(vmi: VirtualMachineInstance): string[] {
  const condition = vmiCondition(vmi, 'LiveMigratable');
  if (condition?.status === 'True') return ['condition LiveMigratable is True: it can be moved to another node'];
  return condition?.status === 'False' ? [`condition LiveMigratable is False: ${condition.reason}, ${condition.message ?? ''}`] : [];
}
