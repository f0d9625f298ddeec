/** What the lists of machines and of disks have in common: the heads of their columns, and the cell with the name of a thing and what is wrong with it. */
import type { ComponentChildren } from 'preact';
import type { Sort } from './derive-list.ts';

/** `wide`: not on a phone; `width`: the class that says how wide it is, and where there is no room for it. */
export type Column = { readonly label: string; readonly isWide?: boolean; readonly width?: string; readonly sort?: Sort };

type HeadProps = {
  readonly columns: readonly Column[];
  /** By which column the list is sorted, with `-` the other way round. */
  readonly sort?: string | undefined;
  /** Where lists can be sorted. */
  choose?(column: Sort): void;
};

export function ColumnHeads({ columns, sort, choose }: HeadProps) {
  return columns.map(({ label, isWide = false, width = '', sort: by }) => {
    const order = by === undefined ? undefined : sort === by ? 'ascending' : sort === `-${by}` ? 'descending' : 'none';
    return (
      <th scope="col" key={label} class={`${isWide ? 'wide' : ''} ${width}`.trim()} aria-sort={order}>
        {by && choose ? (
          <button type="button" class="head" onClick={() => choose(by)}>
            {label}
            <span aria-hidden="true">{order === 'ascending' ? ' ▲' : order === 'descending' ? ' ▼' : ''}</span>
          </button>
        ) : (
          label
        )}
      </th>
    );
  });
}

type NameProps = {
  readonly namespace: string;
  readonly trouble?: { readonly what: string; readonly fix?: string | undefined; readonly isWhole?: boolean } | undefined;
  /** The name itself. */
  readonly children: ComponentChildren;
};

export function NameCell({ namespace, trouble, children }: NameProps) {
  return (
    <td class="name">
      {children} <span class="faint">{namespace}</span>
      {trouble && (
        <span class={trouble.isWhole ? 'trouble whole-text' : 'trouble'} title={[trouble.what, trouble.fix].filter(Boolean).join('\n')}>
          {trouble.what}
        </span>
      )}
    </td>
  );
}
