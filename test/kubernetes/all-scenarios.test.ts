/**
 * What the product does on a real Kubernetes: one cluster of three nodes for all scenarios, which each leaves as it was.
 * `SCENARIOS=seeds,nodes` plays only these. Files are run in the order of their names: the longest first, the others beside it.
 */
import { after, before, describe } from 'node:test';
import type { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { startProductCluster } from './product-cluster.ts';
import { believedScenarios } from './scenarios/believed.ts';
import { componentScenarios } from './scenarios/components.ts';
import { e2eScenarios } from './scenarios/e2e.ts';
import { firstVmScenarios } from './scenarios/first-vm.ts';
import { lookingScenarios } from './scenarios/looking.ts';
import { nodeScenarios } from './scenarios/nodes.ts';
import { seedScenarios } from './scenarios/seeds.ts';
import { tenantScenarios } from './scenarios/tenants.ts';
import { vmctlScenarios } from './scenarios/vmctl.ts';
import { World } from './scenarios/world.ts';
import { whyNoNodes } from './why-no-nodes.ts';

/** In this order: the last ones are hard on the cluster. */
const SCENARIOS: Readonly<Record<string, (world: World) => void>> = {
  'first-vm': firstVmScenarios,
  seeds: seedScenarios,
  e2e: e2eScenarios,
  looking: lookingScenarios,
  believed: believedScenarios,
  vmctl: vmctlScenarios,
  tenants: tenantScenarios,
  components: componentScenarios,
  nodes: nodeScenarios,
};
const wanted = process.env['SCENARIOS']?.split(',') ?? Object.keys(SCENARIOS);

describe('the product on three nodes', { skip: whyNoNodes() }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startProductCluster({ name: `scenarios-${process.pid}`, nodes: 3 });
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });
  const world = new World(() => cluster);
  for (const name of wanted) {
    const scenarios = SCENARIOS[name];
    if (!scenarios) throw new Error(`there are no scenarios named ${name}; there are ${Object.keys(SCENARIOS).join(', ')}`);
    scenarios(world);
  }
});
