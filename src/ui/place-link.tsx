import type { ComponentChildren } from 'preact';
import { type Place, placePath } from './derive-place.ts';
import { go } from './hooks.ts';

type LinkProps = {
  readonly to: Place;
  readonly isHere?: boolean;
  readonly class?: string;
  readonly title?: string;
  readonly children: ComponentChildren;
};

/** A link within the page: works in a new tab as well. */
export function PlaceLink({ to, isHere = false, class: className, title, children }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={placePath(to)} onClick={follow} aria-current={isHere ? 'page' : undefined} class={className} title={title}>
      {children}
    </a>
  );
}
