/** What a machine used, as pictures: a line and a bar in the list, charts on its page. */
import type { HistoryField, UsageHistory } from '../api/handler/usage-history.ts';
import { guestMemoryBytesOf, vcpusOf } from '../api/kubevirt/vmi-size.ts';
import type { VmiSpec } from '../api/kubevirt/vmi-spec-schema.ts';
import {
  coresText,
  deriveLatest,
  deriveMemory,
  deriveMost,
  derivePath,
  deriveTable,
  LIST_SECONDS,
  RANGES,
  rateText,
  wholeMebibytes,
} from './derive-charts.ts';
import type { Machine } from './derive-machines.ts';
import { useNow } from './hooks.ts';
import { useHistory } from './use-history.ts';

/** For a row of the list. */
export function UsageCell({ machine }: { readonly machine: Machine }) {
  const history = useHistory(machine, LIST_SECONDS);
  const nowMs = useNow();
  const { vmi } = machine;
  if (!history || !vmi) return <span class="faint">–</span>;
  const cores = deriveLatest(history, 'cpuCores', nowMs);
  const memory = deriveMemory(history, guestMemoryBytesOf(vmi.spec) ?? 0, nowMs);
  const path = derivePath(history, 'cpuCores', { nowMs, seconds: LIST_SECONDS, width: 80, height: 18, most: vcpusOf(vmi.spec) });
  return (
    <span class="usage">
      <svg
        class="spark"
        viewBox="0 0 80 18"
        width="80"
        height="18"
        role="img"
        aria-label={`Processors: ${cores === undefined ? 'not known' : coresText(cores)}`}
      >
        <path d={path} />
      </svg>
      {memory && <meter aria-label="Memory" title={memory.text} value={memory.share} max={1} />}
    </span>
  );
}

type Line = { readonly field: HistoryField; readonly label: string };
type Chart = {
  readonly title: string;
  readonly lines: readonly Line[];
  /** What the top of the chart stands for at least. */
  readonly least?: number | undefined;
  readonly text: (value: number) => string;
};

function chartsOf(spec: VmiSpec): readonly Chart[] {
  return [
    { title: 'Processors', least: vcpusOf(spec), lines: [{ field: 'cpuCores', label: 'used' }], text: coresText },
    {
      title: 'Memory',
      least: guestMemoryBytesOf(spec),
      lines: [
        { field: 'residentBytes', label: 'of its node' },
        { field: 'guestUsedBytes', label: 'in the guest' },
      ],
      text: wholeMebibytes,
    },
    {
      title: 'Disks',
      lines: [
        { field: 'diskReadBytesPerSecond', label: 'read' },
        { field: 'diskWrittenBytesPerSecond', label: 'written' },
      ],
      text: rateText,
    },
    {
      title: 'Network',
      lines: [
        { field: 'networkReceivedBytesPerSecond', label: 'received' },
        { field: 'networkSentBytesPerSecond', label: 'sent' },
      ],
      text: rateText,
    },
  ];
}

type Shown = { readonly history: UsageHistory; readonly nowMs: number; readonly seconds: number };
type ChartsProps = { readonly machine: Machine; readonly history: UsageHistory | undefined; readonly seconds: number };

/** For the page of a machine. */
export function UsageCharts({ machine, history, seconds }: ChartsProps) {
  const nowMs = useNow();
  const { vmi } = machine;
  if (!vmi) return <p>It does not run.</p>;
  if (!history) return <p>Nothing was measured yet.</p>;
  const charts = chartsOf(vmi.spec);
  return (
    <>
      <div class="charts">
        {charts.map((chart) => (
          <ChartPicture key={chart.title} {...chart} {...{ history, nowMs, seconds }} />
        ))}
      </div>
      <details>
        <summary>As a table</summary>
        <ChartTable charts={charts} {...{ history, nowMs, seconds }} />
      </details>
    </>
  );
}

function ChartPicture({ title, history, nowMs, seconds, lines, least = 0, text }: Chart & Shown) {
  const fields = lines.map(({ field }) => field);
  const most = Math.max(least, deriveMost(history, fields));
  const size = { nowMs, seconds, width: 300, height: 80, most };
  const known = lines.flatMap(({ field, label }) => {
    const value = deriveLatest(history, field, nowMs);
    return value === undefined ? [] : [`${label} ${text(value)}`];
  });
  const said = known.length > 0 ? known : ['not known'];
  const [, range] = RANGES.find(([each]) => each === seconds) ?? [];
  return (
    <figure>
      <figcaption>
        {title} <span class="faint">{said.join(' · ')}</span>
      </figcaption>
      <div>
        <span class="faint scale" aria-hidden="true">
          {most > 0 && text(most)}
        </span>
        <svg viewBox="0 0 300 80" role="img" aria-label={`${title} in ${range}: ${said.join(', ')}`} preserveAspectRatio="none">
          {fields.map((field, index) => (
            <path key={field} class={`line${index}`} d={derivePath(history, field, size)} />
          ))}
        </svg>
      </div>
    </figure>
  );
}

function ChartTable({ charts, history, nowMs, seconds }: Shown & { readonly charts: readonly Chart[] }) {
  const columns = charts.flatMap(({ title, lines, text }) => lines.map((line) => ({ ...line, title, text })));
  const fields = columns.map(({ field }) => field);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
    <section class="scrolls" tabIndex={0} aria-label="Charts as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">Until</th>
            {columns.map(({ field, title, label }) => (
              <th scope="col" key={field}>
                {title}, {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {deriveTable(history, fields, { nowMs, seconds }).map(({ atMs, values }) => (
            <tr key={atMs}>
              <th scope="row">{new Date(atMs).toLocaleTimeString()}</th>
              {columns.map(({ field, text }) => (
                <td key={field}>{values[field] === undefined ? '–' : text(values[field])}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
