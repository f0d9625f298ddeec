/** Debian's docker-registry as the registry of a cluster: nodes ask it for every image, whatever registry its name begins with. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plan } from './plan.ts';
import type { Part } from './processes.ts';

/** How to start it; its configuration and its images are in the cluster's folder. */
export function registryPart({ folder, plan, packages }: { folder: string; plan: Plan; packages: string }): Part {
  const config = join(folder, 'registry.json');
  writeFileSync(config, JSON.stringify(registryConfig(folder, plan)));
  return {
    folder,
    part: 'docker-registry',
    program: join(packages, 'usr/bin/docker-registry'),
    args: ['serve', config],
    logFile: join(folder, 'log', 'docker-registry.log'),
  };
}

function registryConfig(folder: string, { registry }: Plan): object {
  return {
    version: '0.1',
    log: { level: 'warn', accesslog: { disabled: true } },
    storage: { filesystem: { rootdirectory: join(folder, 'registry') }, delete: { enabled: true } },
    http: { addr: registry },
  };
}
