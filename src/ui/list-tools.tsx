/** What is shown of the machines, and how: words, status, namespace, node, groups, columns. The address has all but the columns, which this browser keeps. */
import { useState } from 'preact/hooks';
import { GROUPS, valuesOf } from './derive-list.ts';
import type { Machine } from './derive-machines.ts';
import type { Place } from './derive-place.ts';
import { go } from './hooks.ts';
import { Menu } from './menu.tsx';
import { PlaceLink } from './place-link.tsx';

type List = Extract<Place, { page: 'machines' }>;
const GROUP_WORDS: Readonly<Record<(typeof GROUPS)[number], string>> = { namespace: 'Namespace', node: 'Node', status: 'Status' };
const ALL: List = { page: 'machines', text: '', status: '' };

/** Columns that can be left out, by their classes in the style sheet. */
const CHOICES: readonly (readonly [column: string, label: string])[] = [
  ['size', 'Size'],
  ['use', 'CPU, memory'],
  ['address', 'Address'],
  ['ports', 'Ports'],
  ['node', 'Node'],
  ['since', 'Since'],
];
const HIDDEN = 'hidden-columns';

/** The columns that are left out, and how to change one. */
export function useHiddenColumns(): readonly [hidden: ReadonlySet<string>, toggle: (column: string) => void] {
  const [hidden, setHidden] = useState<ReadonlySet<string>>(() => new Set(localStorage.getItem(HIDDEN)?.split(' ').filter(Boolean)));
  const toggle = (column: string) => {
    const next = hidden.symmetricDifference(new Set([column]));
    localStorage.setItem(HIDDEN, [...next].join(' '));
    setHidden(next);
  };
  return [hidden, toggle];
}

type Props = {
  readonly place: List;
  readonly machines: readonly Machine[];
  readonly hidden: ReadonlySet<string>;
  toggle(column: string): void;
};

export function ListTools({ place, machines, hidden, toggle }: Props) {
  const { text, sort, group } = place;
  const isFiltered = text !== '' || place.status !== '' || place.namespace !== undefined || place.node !== undefined;
  return (
    <>
      <input
        id="filter"
        type="search"
        aria-label="Filter by name, namespace, image, node, address or label"
        placeholder="Filter ( / )"
        value={text}
        onInput={(event) => go({ ...place, text: event.currentTarget.value }, { replaces: true })}
      />
      <Choice label="Status" value={place.status} values={valuesOf(machines, 'status')} choose={(status) => go({ ...place, status })} />
      {(['namespace', 'node'] as const).map((name) => {
        const values = valuesOf(machines, name);
        const { [name]: value = '', ...rest } = place;
        if (values.length < 2 && value === '') return null;
        const choose = (chosen: string) => go({ ...rest, ...(chosen !== '' && { [name]: chosen }) });
        return <Choice key={name} label={GROUP_WORDS[name]} value={value} values={values} choose={choose} />;
      })}
      {isFiltered && (
        <PlaceLink to={{ ...ALL, ...(sort && { sort }), ...(group && { group }) }} class="button">
          Clear filters
        </PlaceLink>
      )}
      <Menu label="View">
        {() => (
          <>
            <label>
              Group by{' '}
              <select
                value={group ?? ''}
                onChange={({ currentTarget: { value } }) => {
                  const { group: _, ...rest } = place;
                  go({ ...rest, ...(value !== '' && { group: value }) });
                }}
              >
                <option value="">nothing</option>
                {GROUPS.map((each) => (
                  <option key={each} value={each}>
                    {GROUP_WORDS[each]}
                  </option>
                ))}
              </select>
            </label>
            {CHOICES.map(([column, label]) => (
              <label key={column}>
                <input type="checkbox" checked={!hidden.has(column)} onChange={() => toggle(column)} />
                {label}
              </label>
            ))}
          </>
        )}
      </Menu>
    </>
  );
}

type ChoiceProps = { readonly label: string; readonly value: string; readonly values: readonly string[]; choose(value: string): void };

/** One that is chosen stays to be seen, also when no machine has it any more. */
function Choice({ label, value, values, choose }: ChoiceProps) {
  const all = value === '' || values.includes(value) ? values : [value, ...values];
  return (
    <select aria-label={label} value={value} onChange={(event) => choose(event.currentTarget.value)}>
      <option value="">Any {label.toLowerCase()}</option>
      {all.map((each) => (
        <option key={each} value={each}>
          {each}
        </option>
      ))}
    </select>
  );
}
