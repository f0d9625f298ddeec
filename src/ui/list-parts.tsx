/** What the lists of machines and of disks have in common: the heads of their columns, and the cell with the name of a thing and what is wrong with it. */
import type { ComponentChildren } from 'preact';

/** `wide`: not on a phone; `width`: the class that says how wide it is, and where there is no room for it. */
export type Column = { readonly label: string; readonly isWide?: boolean; readonly width?: string };

export function ColumnHeads({ columns }: { readonly columns: readonly Column[] }) {
  return columns.map(({ label, isWide = false, width = '' }) => (
    <th scope="col" key={label} class={`${isWide ? 'wide' : ''} ${width}`.trim()}>
      {label}
    </th>
  ));
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
