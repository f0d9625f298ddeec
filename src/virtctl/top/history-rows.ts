/** What guests used over the last hours, as lines of a table. Pure. */
import type { HistoryField, UsageHistory } from '../../api/handler/usage-history.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { bucketsOf, sparkline } from '../../sdk/sparkline.ts';

export type Remembered = { readonly vmi: VirtualMachineInstance; readonly history?: UsageHistory | undefined };
export type HistoryRowsOptions = { readonly isAcross: boolean; readonly nowMs: number; readonly seconds: number };

const MEBIBYTE = 2 ** 20;
const BARS = 30;

/** By name. A picture of the processors is as high as the most that the machine used in this time. */
export function historyRows(remembered: readonly Remembered[], { isAcross, nowMs, seconds }: HistoryRowsOptions): string[][] {
  const header = [...(isAcross ? ['NAMESPACE'] : []), 'NAME', 'CPU', 'MEAN(cores)', 'MOST(cores)', 'MEMORY(bytes)', 'MOST(bytes)'];
  const rows = remembered.map(({ vmi: { metadata }, history }) => {
    const { mean, most } = summaryOf(history, 'cpuCores');
    const memory = summaryOf(history, 'residentBytes');
    const bars = history ? bucketsOf(history, { field: 'cpuCores', nowMs, seconds, count: BARS }) : [];
    return [
      ...(isAcross ? [metadata.namespace ?? ''] : []),
      metadata.name,
      sparkline(bars, most ?? 0).trimEnd() || '-',
      cores(mean),
      cores(most),
      bytes(memory.last),
      bytes(memory.most),
    ];
  });
  return [header, ...rows];
}

type Summary = { readonly mean?: number; readonly most?: number; readonly last?: number };

function summaryOf(history: UsageHistory | undefined, field: HistoryField): Summary {
  const values = (history?.points ?? []).flatMap((point) => point[field] ?? []);
  const last = values.at(-1);
  if (last === undefined) return {};
  const sum = values.reduce((total, value) => total + value, 0);
  return { mean: sum / values.length, most: values.reduce((a, b) => Math.max(a, b)), last };
}

function cores(value: number | undefined): string {
  return value === undefined ? '-' : `${Math.round(value * 1000)}m`;
}

function bytes(value: number | undefined): string {
  return value === undefined ? '-' : `${Math.round(value / MEBIBYTE)}Mi`;
}
