/** What a machine used, as pictures: a line and a bar in the list, charts on its page. */
import type { HistoryField, UsageHistory } from '../api/handler/usage-history.ts';
import { guestMemoryBytesOf, vcpusOf } from '../api/kubevirt/vmi-size.ts';
import {
  coresText,
  deriveLatest,
  deriveMemory,
  deriveMost,
  derivePath,
  LIST_SECONDS,
  OVERVIEW_SECONDS,
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
type ChartProps = {
  readonly title: string;
  readonly history: UsageHistory;
  readonly nowMs: number;
  readonly lines: readonly Line[];
  /** What the top of the chart stands for; the most that there was when not given. */
  readonly most?: number | undefined;
  readonly text: (value: number) => string;
};

/** For the page of a machine. */
export function UsageCharts({ machine, history }: { readonly machine: Machine; readonly history: UsageHistory | undefined }) {
  const nowMs = useNow();
  const { vmi } = machine;
  if (!vmi) return <p>It does not run.</p>;
  if (!history) return <p>Nothing was measured yet.</p>;
  const common = { history, nowMs };
  return (
    <div class="charts">
      <Chart {...common} title="Processors" most={vcpusOf(vmi.spec)} lines={[{ field: 'cpuCores', label: 'used' }]} text={coresText} />
      <Chart
        {...common}
        title="Memory"
        most={guestMemoryBytesOf(vmi.spec)}
        lines={[
          { field: 'residentBytes', label: 'of its node' },
          { field: 'guestUsedBytes', label: 'in the guest' },
        ]}
        text={wholeMebibytes}
      />
      <Chart
        {...common}
        title="Disks"
        lines={[
          { field: 'diskReadBytesPerSecond', label: 'read' },
          { field: 'diskWrittenBytesPerSecond', label: 'written' },
        ]}
        text={rateText}
      />
      <Chart
        {...common}
        title="Network"
        lines={[
          { field: 'networkReceivedBytesPerSecond', label: 'received' },
          { field: 'networkSentBytesPerSecond', label: 'sent' },
        ]}
        text={rateText}
      />
    </div>
  );
}

function Chart({ title, history, nowMs, lines, most, text }: ChartProps) {
  const fields = lines.map(({ field }) => field);
  const top = most ?? deriveMost(history, fields);
  const size = { nowMs, seconds: OVERVIEW_SECONDS, width: 300, height: 80, most: top };
  const known = lines.flatMap(({ field, label }) => {
    const value = deriveLatest(history, field, nowMs);
    return value === undefined ? [] : [`${label} ${text(value)}`];
  });
  const said = known.length > 0 ? known : ['not known'];
  return (
    <figure>
      <figcaption>
        {title} <span class="faint">{said.join(' · ')}</span>
      </figcaption>
      <svg viewBox="0 0 300 80" role="img" aria-label={`${title} in the last hour: ${said.join(', ')}`} preserveAspectRatio="none">
        {fields.map((field, index) => (
          <path key={field} class={`line${index}`} d={derivePath(history, field, size)} />
        ))}
      </svg>
    </figure>
  );
}
