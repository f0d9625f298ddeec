/** A real Prometheus for tests, with the rules that an installation brings. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { temporaryFolder } from '../../src/qemu/qmp/qemu.testing.ts';
import { ALERT_GROUPS } from '../../src/virt-operator/render/alert-rules-table.ts';
import { findPrometheus } from '../../tools/prometheus/ensure.ts';

type Result = { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] };

/** Resolves when it serves; what it returns asks until there is an answer. */
export async function startPrometheus(t: TestContext, { targets, token }: { targets: readonly string[]; token: string }) {
  const folder = await temporaryFolder(t);
  const files = {
    'prometheus.yaml': {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [
        {
          job_name: 'kubevirt',
          scheme: 'https',
          honor_labels: true,
          tls_config: { insecure_skip_verify: true },
          authorization: { credentials_file: 'token' },
          static_configs: [{ targets }],
        },
      ],
    },
    'rules.yaml': { groups: ALERT_GROUPS },
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(content));
  await writeFile(join(folder, 'token'), token);
  const port = await freePort();
  const args = ['--config.file=prometheus.yaml', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'];
  const child = spawn(findPrometheus()?.prometheus ?? '', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  t.after(() => {
    child.kill('SIGKILL');
    return ended;
  });
  return async (query: string): Promise<Result | undefined> => {
    const giveUpAt = performance.now() + 60_000;
    for (;;) {
      const result = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(query)}`).then(
        async (response) => (response.ok ? ((await response.json()) as { data: { result: Result[] } }).data.result[0] : undefined),
        () => undefined, // not yet
      );
      if (result || performance.now() > giveUpAt || child.exitCode !== null) return result;
      await systemClock.sleep(100);
    }
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number }; // it listens on a port
  server.close();
  await once(server, 'close');
  return port;
}
