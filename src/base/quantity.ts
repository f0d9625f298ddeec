/** Kubernetes quantities: 64M, 128Mi, 500m, 1.5Gi, 2e3. */
const SUFFIXES: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};
const GRAMMAR = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d{1,2})|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?)$/;

/** The plain number a quantity stands for (bytes, cores), or undefined when it is not a quantity. */
export function parseQuantity(text: string | number): number | undefined {
  const match = GRAMMAR.exec(String(text));
  if (!match) return undefined;
  const [, digits = '', exponent, suffix = ''] = match;
  return exponent ? Number(digits + exponent) : Number(digits) * (SUFFIXES[suffix] ?? Number.NaN);
}

/** Bytes as the largest binary unit that keeps the number whole: 134217728 is 128Mi. */
export function formatBytes(bytes: number): string {
  for (const unit of ['Ei', 'Pi', 'Ti', 'Gi', 'Mi', 'Ki']) {
    const size = SUFFIXES[unit] ?? 1;
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return String(Math.ceil(bytes));
}

/** Cores as Kubernetes writes them: 0.1 is 100m, 2 is 2. */
export function formatCores(cores: number): string {
  const milli = Math.ceil(cores * 1000);
  return milli % 1000 === 0 ? String(milli / 1000) : `${milli}m`;
}
