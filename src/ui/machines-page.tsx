/** All machines, live. Only the rows that can be seen are drawn, so that ten thousand scroll as ten do. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { SERVICES, type Service } from '../api/core/service.ts';
import { humanDuration } from '../base/duration.ts';
import { ActionButtons, type Confirmation, ConfirmDialog } from './action-buttons.tsx';
import { BulkBar } from './bulk-bar.tsx';
import { deriveLines, deriveShown, type Line, nextSort, type Sort } from './derive-list.ts';
import { deriveMachines, deriveTrouble, type Machine } from './derive-machines.ts';
import { deriveWays, isServedHere } from './derive-network.ts';
import type { Place } from './derive-place.ts';
import { go, useForbidden, useNow, useSession } from './hooks.ts';
import { type Column, ColumnHeads, NameCell } from './list-parts.tsx';
import { ListTools, useHiddenColumns } from './list-tools.tsx';
import { PlaceLink } from './place-link.tsx';
import { PortLink } from './port-link.tsx';
import { StatusWord } from './status-word.tsx';
import { UsageCell } from './usage-charts.tsx';
import { useFollowed } from './use-followed.ts';
import { useImages } from './use-images.ts';

const ROW_PX = 52;
const BEYOND = 8;
/** Until the height is known: what fits in most windows. More would keep the first of them waiting. */
const FIRST_ROWS = 16;
/** Their widths, and which of them a narrow window has no room for, stand in the style sheet: rows that were laid out by what is in them would differ. */
const COLUMNS: readonly Column[] = [
  { label: 'Status', width: 'status-column', sort: 'status' },
  { label: 'Name', sort: 'name' },
  { label: 'Size', isWide: true, width: 'size-column', sort: 'size' },
  { label: 'CPU, memory', isWide: true, width: 'use-column' },
  { label: 'Address', isWide: true, width: 'address-column', sort: 'address' },
  { label: 'Ports', isWide: true, width: 'ports-column' },
  { label: 'Node', isWide: true, width: 'node-column', sort: 'node' },
  { label: 'Since', isWide: true, width: 'since-column', sort: 'since' },
  { label: 'Actions', width: 'actions-column' },
];

export function MachinesPage({ place }: { readonly place: Extract<Place, { page: 'machines' }> }) {
  const session = useSession();
  const version = session.version();
  const machines = useMemo(() => deriveMachines(session.vms.list(), session.vmis.list()), [session, version]);
  const shown = useMemo(() => deriveShown(machines, place), [machines, place]);
  const lines = useMemo(() => deriveLines(shown, place), [shown, place]);
  const [hidden, toggle] = useHiddenColumns();
  if (machines.length === 0) return <NoMachines />;
  return (
    <main>
      <header class="bar">
        <h1>
          Machines <span class="count">{shown.length === machines.length ? machines.length : `${shown.length} of ${machines.length}`}</span>
        </h1>
        <ListTools place={place} machines={machines} hidden={hidden} toggle={toggle} />
        <PlaceLink to={{ page: 'create' }} class="button primary">
          Create
        </PlaceLink>
      </header>
      {shown.length === 0 ? <p>No machine fits the filter.</p> : <Rows machines={shown} lines={lines} place={place} hidden={hidden} />}
    </main>
  );
}

type RowsProps = {
  readonly machines: readonly Machine[];
  readonly lines: readonly Line[];
  readonly place: Extract<Place, { page: 'machines' }>;
  readonly hidden: ReadonlySet<string>;
};

function Rows({ machines, lines, place, hidden }: RowsProps) {
  const services = useFollowed(SERVICES, useSession().namespace);
  const served = useMemo(() => (services ?? []).filter(isServedHere), [services]);
  const scroller = useRef<HTMLElement>(null);
  const [range, setRange] = useState({ first: 0, count: FIRST_ROWS });
  const [asked, setAsked] = useState<Confirmation>();
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () =>
      setRange({
        first: Math.max(0, Math.floor(element.scrollTop / ROW_PX) - BEYOND),
        count: Math.ceil(element.clientHeight / ROW_PX) + 2 * BEYOND,
      });
    measure();
    element.addEventListener('scroll', measure, { passive: true });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => {
      element.removeEventListener('scroll', measure);
      observer.disconnect();
    };
  }, []);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const chosen = machines.filter(({ key }) => selected.has(key));
  const select = (keys: readonly string[], isSelected: boolean) =>
    setSelected((before) => (isSelected ? before.union(new Set(keys)) : before.difference(new Set(keys))));
  const visible = lines.slice(range.first, range.first + range.count);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class="rows" ref={scroller} tabIndex={0} aria-label="List of machines">
      <BulkBar machines={chosen} select={(stay) => setSelected(new Set(stay.map(({ key }) => key)))} />
      <table aria-rowcount={lines.length + 1} class={[...hidden].map((column) => `no-${column}`).join(' ')}>
        <thead>
          <tr>
            <th scope="col" class="check">
              <input
                type="checkbox"
                aria-label="Select all that are shown"
                checked={chosen.length === machines.length}
                onChange={(event) =>
                  select(
                    machines.map(({ key }) => key),
                    event.currentTarget.checked,
                  )
                }
              />
            </th>
            <ColumnHeads columns={COLUMNS} sort={place.sort} choose={(sort) => go(sortedBy(place, sort))} />
          </tr>
        </thead>
        <tbody>
          {range.first > 0 && (
            <tr class="gap">
              <td style={{ height: `${range.first * ROW_PX}px` }} />
            </tr>
          )}
          {visible.map((line, index) =>
            'group' in line ? (
              <GroupHead key={`group ${line.group}`} {...{ ...line, index: range.first + index, selected, select }} />
            ) : (
              <Row
                key={line.machine.key}
                machine={line.machine}
                services={served}
                index={range.first + index}
                ask={setAsked}
                isSelected={selected.has(line.machine.key)}
                select={(isSelected) => select([line.machine.key], isSelected)}
              />
            ),
          )}
          {range.first + visible.length < lines.length && (
            <tr class="gap">
              <td style={{ height: `${(lines.length - range.first - visible.length) * ROW_PX}px` }} />
            </tr>
          )}
        </tbody>
      </table>
      {asked && <ConfirmDialog {...asked} close={() => setAsked(undefined)} />}
    </section>
  );
}

/** Without a sort they come by namespace and name. */
function sortedBy(place: RowsProps['place'], column: Sort): RowsProps['place'] {
  const { sort, ...rest } = place;
  const next = nextSort(sort, column);
  return { ...rest, ...(next && { sort: next }) };
}

/** Status, name and actions: a cell that spans more than there are makes columns. */
const ALWAYS_SHOWN = 3;

type GroupProps = Extract<Line, { group: string }> & {
  readonly index: number;
  readonly selected: ReadonlySet<string>;
  select(keys: readonly string[], isSelected: boolean): void;
};

function GroupHead({ group, machines, index, selected, select }: GroupProps) {
  const keys = machines.map(({ key }) => key);
  return (
    <tr class="group" aria-rowindex={index + 2}>
      <td class="check">
        <input
          type="checkbox"
          aria-label={`Select all of ${group}`}
          checked={keys.every((key) => selected.has(key))}
          onChange={(event) => select(keys, event.currentTarget.checked)}
        />
      </td>
      <th scope="rowgroup" colSpan={ALWAYS_SHOWN}>
        {group} <span class="count">{machines.length}</span>
      </th>
    </tr>
  );
}

type RowProps = {
  readonly machine: Machine;
  /** Those that this machine serves. */
  readonly services: readonly Service[];
  readonly index: number;
  readonly isSelected: boolean;
  select(isSelected: boolean): void;
  ask(confirmation: Confirmation): void;
};

function Row({ machine, services, index, isSelected, select, ask }: RowProps) {
  const session = useSession();
  const now = useNow();
  const forbidden = useForbidden(machine.namespace);
  const { namespace, name, address, node, cpus, memory, since } = machine;
  const trouble = deriveTrouble(machine, { now, ...(session.nodes && { nodes: session.nodes.list() }) });
  return (
    <tr aria-rowindex={index + 2} data-machine={machine.key} class={trouble ? 'troubled' : ''}>
      <td class="check">
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={isSelected}
          onChange={(event) => select(event.currentTarget.checked)}
        />
      </td>
      <td title={machine.status}>
        <StatusWord status={machine.status} tone={machine.tone} />
      </td>
      <NameCell namespace={namespace} trouble={trouble}>
        <PlaceLink to={{ page: 'machine', namespace, name, tab: 'overview' }} title={`${name} in ${namespace}`}>
          {name}
        </PlaceLink>
      </NameCell>
      <td class="wide size-column">{[cpus && `${cpus} CPU`, memory].filter(Boolean).join(' · ')}</td>
      <td class="wide use-column">
        <UsageCell machine={machine} />
      </td>
      <td class="wide address-column">{address ?? '–'}</td>
      <td class="wide ports-column">
        <Ports machine={machine} services={services} mostLines={trouble ? 1 : MOST_LINES} />
      </td>
      <td class="wide node-column" title={node}>
        {node ?? '–'}
      </td>
      <td class="wide since-column">{since ? humanDuration(now - Date.parse(since)) : '–'}</td>
      <td class="actions">
        <ActionButtons machine={machine} forbidden={forbidden} ask={ask} only={['start', 'stop']} />
        <PlaceLink to={{ page: 'machine', namespace, name, tab: 'console' }} class="button wide">
          Console
        </PlaceLink>
      </td>
    </tr>
  );
}

/** More would make the row higher than all others. */
const MOST_LINES = 2;

function Ports({ machine, services, mostLines }: Pick<RowProps, 'machine' | 'services'> & { readonly mostLines: number }) {
  const found = deriveWays(machine, services).filter(({ here }) => here !== undefined);
  if (found.length === 0) return <>–</>;
  const shown = found.length > mostLines ? found.slice(0, Math.max(1, mostLines - 1)) : found;
  return (
    <>
      {shown.map(({ here, address }) => (
        <div key={address}>
          <PortLink here={here} otherwise="–" />
        </div>
      ))}
      {mostLines > 1 && found.length > shown.length && <span class="faint">and {found.length - shown.length} more</span>}
    </>
  );
}

const MOST_TILES = 6;

function NoMachines() {
  const images = useImages() ?? [];
  return (
    <main class="empty">
      <h1>No machines yet</h1>
      <p>The first one takes an image and a click.</p>
      {images.length > 0 && (
        <p class="tiles">
          {images.slice(0, MOST_TILES).map((image) => (
            <PlaceLink key={image} to={{ page: 'create', image }} class="tile">
              {image}
            </PlaceLink>
          ))}
        </p>
      )}
      <PlaceLink to={{ page: 'create' }} class="button primary">
        Create a machine
      </PlaceLink>
      <p class="faint">
        In a terminal: <code>virtctl run {images[0] ?? 'IMAGE'}</code>
      </p>
    </main>
  );
}
