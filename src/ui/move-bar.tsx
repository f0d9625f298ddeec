/** How the move of a machine goes, with its bar and how long it takes yet, and the way to end it. */
import { cancelMove } from './act.ts';
import type { Machine } from './derive-machines.ts';
import { deriveMove } from './derive-move.ts';
import { where } from './derive-where.ts';
import { useSession } from './hooks.ts';
import { PlaceLink } from './place-link.tsx';
import { useWork } from './use-work.ts';

/** `isNamed`: among those of other machines. */
export function MoveBar({ machine, isNamed = false }: { readonly machine: Machine; readonly isNamed?: boolean }) {
  const { client } = useSession();
  const work = useWork();
  const move = deriveMove(machine);
  if (!move) return null;
  const { text, isFailed, isCancelled, share, detail } = move;
  const { namespace, name } = machine;
  const isEnding = isCancelled || work.isBusy;
  return (
    <div role="status" class={isFailed ? 'trouble' : 'moving'}>
      {isNamed && <PlaceLink to={{ page: 'machine', namespace, name, tab: 'overview' }}>{name}</PlaceLink>} {text}.{' '}
      {!isFailed && (
        <>
          <progress aria-label={`Move of ${name}`} {...(share !== undefined && { value: share })} max={1} /> {detail}{' '}
          <button
            type="button"
            class="small"
            aria-disabled={isEnding}
            aria-label={`Cancel the move of ${name}`}
            title={`virtctl migrate-cancel ${name}${where(namespace)}`}
            onClick={() => !isEnding && void work.run(() => cancelMove(client, machine))}
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
