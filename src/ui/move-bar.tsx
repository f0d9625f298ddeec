/** How the move of a machine goes, with its bar and how long it takes yet. */

import type { Machine } from './derive-machines.ts';
import { deriveMove } from './derive-move.ts';
import { where } from './derive-where.ts';

export function MoveBar({ machine }: { readonly machine: Machine }) {
  const move = deriveMove(machine);
  if (!move) return null;
  const { text, isFailed, share, detail } = move;
  return (
    <div role="status" class={isFailed ? 'trouble' : 'moving'}>
      {text}.{' '}
      {!isFailed && (
        <>
          <progress aria-label={`Move of ${machine.name}`} {...(share !== undefined && { value: share })} max={1} /> {detail}{' '}
          <span class="faint">
            To cancel it:{' '}
            <code>
              virtctl migrate-cancel {machine.name}
              {where(machine.namespace)}
            </code>
          </span>
        </>
      )}
    </div>
  );
}
