/** Figures of a component for whoever collects them: families by name, whose samples are made when somebody looks. What is not looked at costs nothing. */

export type MetricLabels = Readonly<Record<string, string>>;
export type MetricSample = {
  readonly value: number;
  readonly labels?: MetricLabels;
  /** Of a histogram: which of its series this is. */
  readonly suffix?: '_bucket' | '_sum' | '_count';
};
export type MetricFamily = {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly samples: () => readonly MetricSample[] | Promise<readonly MetricSample[]>;
};

/** Whoever shares a process shares this: two that add the same family are shown as one, and samples of the same labels as their sum. */
export class MetricFamilies {
  readonly #families = new Map<string, MetricFamily[]>();

  /** Shows it until the signal aborts, or for ever. */
  add(family: MetricFamily, signal?: AbortSignal): void {
    if (signal?.aborted) return;
    const sharing = this.#families.get(family.name) ?? [];
    sharing.push(family);
    this.#families.set(family.name, sharing);
    signal?.addEventListener('abort', () => this.#remove(family), { once: true });
  }

  /** A gauge of one value. */
  gauge(name: string, help: string, value: () => number, signal?: AbortSignal): void {
    this.add({ name, help, type: 'gauge', samples: () => [{ value: value() }] }, signal);
  }

  /** In the order of their names, each name once. */
  all(): MetricFamily[] {
    const named = [...this.#families.values()].flatMap((sharing) => (sharing[0] ? [joined(sharing[0], sharing)] : []));
    return named.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #remove(family: MetricFamily): void {
    const left = (this.#families.get(family.name) ?? []).filter((each) => each !== family);
    if (left.length > 0) this.#families.set(family.name, left);
    else this.#families.delete(family.name);
  }
}

function joined(first: MetricFamily, sharing: readonly MetricFamily[]): MetricFamily {
  if (sharing.length === 1) return first;
  return { ...first, samples: async () => summed((await Promise.all(sharing.map(({ samples }) => samples()))).flat()) };
}

/** Two samples with the same labels are no metrics: they are of one thing, counted in two places. */
function summed(samples: readonly MetricSample[]): readonly MetricSample[] {
  const sums = new Map<string, MetricSample>();
  for (const sample of samples) {
    const key = JSON.stringify([sample.suffix, Object.entries(sample.labels ?? {}).sort()]);
    const before = sums.get(key);
    sums.set(key, before ? { ...before, value: before.value + sample.value } : sample);
  }
  return [...sums.values()];
}

type Series = { readonly labels: MetricLabels; readonly counts: number[]; sum: number; count: number };

/** Counts values by size. Labels are of few values each: whoever observes sees to it. */
export class MetricHistogram implements MetricFamily {
  readonly type = 'histogram';
  readonly name: string;
  readonly help: string;
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, Series>();

  constructor({ name, help, bounds }: { name: string; help: string; bounds: readonly number[] }) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
  }

  observe(labels: MetricLabels, value: number): void {
    const key = JSON.stringify(labels);
    const series = this.#series.get(key) ?? { labels, counts: this.#bounds.map(() => 0), sum: 0, count: 0 };
    this.#series.set(key, series);
    this.#bounds.forEach((bound, index) => {
      if (value <= bound) series.counts[index] = (series.counts[index] ?? 0) + 1;
    });
    series.sum += value;
    series.count++;
  }

  samples = (): MetricSample[] =>
    [...this.#series.values()].flatMap(({ labels, counts, sum, count }) => [
      ...counts.map((value, index) => ({ suffix: '_bucket' as const, labels: { ...labels, le: String(this.#bounds[index]) }, value })),
      { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
      { suffix: '_sum', labels, value: sum },
      { suffix: '_count', labels, value: count },
    ]);
}

/** Of one counter; beyond, the one that was made first is forgotten. */
const MOST_COUNTED = 10_000;

/** Counts events by labels of few values each. */
export class MetricCounter implements MetricFamily {
  readonly type = 'counter';
  readonly name: string;
  readonly help: string;
  readonly #counts = new Map<string, { readonly labels: MetricLabels; value: number }>();

  constructor({ name, help }: { name: string; help: string }) {
    this.name = name;
    this.help = help;
  }

  add(labels: MetricLabels, by = 1): void {
    const key = JSON.stringify(labels);
    const counted = this.#counts.get(key) ?? { labels, value: 0 };
    counted.value += by;
    this.#counts.set(key, counted);
    const [oldest] = this.#counts.keys();
    if (oldest !== undefined && this.#counts.size > MOST_COUNTED) this.#counts.delete(oldest);
  }

  samples = (): MetricSample[] => [...this.#counts.values()].map(({ labels, value }) => ({ labels, value }));
}
