/** How the move of a machine goes, with its bar and how long it takes yet, and the way to end it. */
import { MIGRATIONS } from '../api/kubevirt/kinds/migration.ts';
import { cancelMove, rightToDelete } from './act.ts';
import type { Machine } from './derive-machines.ts';
import { deriveMove } from './derive-move.ts';
import { where } from './derive-where.ts';
import { useSession } from './hooks.ts';
import { PlaceLink } from './place-link.tsx';
import { useMay } from './use-may.ts';
import { useWork } from './use-work.ts';

/** `isNamed`: among those of other machines. */
export function MoveBar({ machine, isNamed = false }: { readonly machine: Machine; readonly isNamed?: boolean }) {
  const { client } = useSession();
  const work = useWork();
  const isAllowed = useMay(machine.namespace, rightToDelete(MIGRATIONS));
  const move = deriveMove(machine);
  if (!move) return null;
  const { text, isFailed, isCancelled, share, detail } = move;
  const { namespace, name } = machine;
  const refusal = isAllowed ? undefined : `you may not cancel moves in ${namespace}`;
  const cannot = isCancelled || work.isBusy || refusal !== undefined;
  return (
    <div role="status" class={isFailed ? 'trouble' : 'moving'}>
      {isNamed && <PlaceLink to={{ page: 'machine', namespace, name, tab: 'overview' }}>{name}</PlaceLink>} {text}.{' '}
      {!isFailed && (
        <>
          <progress aria-label={`Move of ${name}`} {...(share !== undefined && { value: share })} max={1} /> {detail}{' '}
          <button
            type="button"
            class="small"
            aria-disabled={cannot}
            aria-label={`Cancel the move of ${name}${refusal ? `: ${refusal}` : ''}`}
            title={refusal ?? `virtctl migrate-cancel ${name}${where(namespace)}`}
            onClick={() => !cannot && void work.run(() => cancelMove(client, machine))}
          >
            Cancel
          </button>
          {work.error && (
            <span class="trouble" role="alert">
              {work.error}
            </span>
          )}
        </>
      )}
    </div>
  );
}
