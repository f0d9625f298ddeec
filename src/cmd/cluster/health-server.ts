/** Plain HTTP for the kubelet and for Prometheus: /healthz, /readyz and a few figures under /metrics. Says nothing about guests or users. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type HealthOptions = {
  readonly component: string;
  readonly version: string;
  readonly host: string | undefined;
  /** 0 takes any free port. */
  readonly port: number;
};
export type HealthServer = {
  readonly port: number;
  ready(): void;
  measure(name: string, value: () => number): void;
  close(): void;
};

/** Resolves when it answers. */
export async function startHealthServer({ component, version, host, port }: HealthOptions): Promise<HealthServer> {
  let isReady = false;
  const figures = new Map<string, () => number>([
    ['process_resident_memory_bytes', () => process.memoryUsage.rss()],
    ['process_cpu_seconds_total', () => cpuSeconds()],
    ['process_start_time_seconds', () => Math.round(Date.now() / 1000 - process.uptime())],
  ]);
  const server = createServer((request, response) => {
    const answer = (code: number, text: string) => response.writeHead(code, { 'content-type': 'text/plain; version=0.0.4' }).end(text);
    if (request.url === '/healthz' || request.url === '/livez') return answer(200, 'ok');
    if (request.url === '/readyz') return isReady ? answer(200, 'ok') : answer(503, 'not yet');
    if (request.url === '/metrics') return answer(200, metricsText({ component, version }, figures));
    return answer(404, 'not found');
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port, not on a path
    ready: () => {
      isReady = true;
    },
    measure: (name, value) => figures.set(name, value),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** In the text format of Prometheus. */
function metricsText(of: { component: string; version: string }, figures: ReadonlyMap<string, () => number>): string {
  const info = `# TYPE kubevirt_ts_info gauge\nkubevirt_ts_info{component="${of.component}",version="${of.version}"} 1\n`;
  const lines = [...figures].map(
    ([name, value]) => `# TYPE ${name} ${name.endsWith('_total') ? 'counter' : 'gauge'}\n${name} ${value()}\n`,
  );
  return `${info}${lines.join('')}`;
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
