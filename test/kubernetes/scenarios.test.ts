/** Scenarios that need several nodes, or a whole Kubernetes around the product: one cluster for all of them, which each leaves as it was. */
import { after, before, describe } from 'node:test';
import type { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { startProductCluster } from './product-cluster.ts';
import { componentScenarios } from './scenarios/components.ts';
import { nodeScenarios } from './scenarios/nodes.ts';
import { seedScenarios } from './scenarios/seeds.ts';
import { tenantScenarios } from './scenarios/tenants.ts';
import { vmctlScenarios } from './scenarios/vmctl.ts';
import { World } from './scenarios/world.ts';
import { whyNoNodes } from './why-no-nodes.ts';

describe('the product on three nodes', { skip: whyNoNodes() }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startProductCluster({ name: `scenarios-${process.pid}`, nodes: 3 });
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });
  const world = new World(() => cluster);
  seedScenarios(world);
  vmctlScenarios(world);
  tenantScenarios(world);
  componentScenarios(world);
  nodeScenarios(world);
});
