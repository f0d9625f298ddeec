/**
 * What the product does on a real Kubernetes: one cluster of three nodes for all scenarios, which each leaves as it was.
 * `SCENARIOS=seeds,nodes` plays only these. Files of tests are run in the order of their names: the longest first, the others beside it.
 */
import { after, before, describe } from 'node:test';
import type { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { nodesSkipReason } from './nodes-skip-reason.ts';
import { startProductCluster } from './product-cluster.ts';
import { attackScenarios } from './scenarios/attacks.ts';
import { componentScenarios } from './scenarios/components.ts';
import { e2eScenarios, repeatedScenarios } from './scenarios/e2e.ts';
import { firstVmScenarios } from './scenarios/first-vm.ts';
import { lookingScenarios } from './scenarios/looking.ts';
import { moveScenarios } from './scenarios/moves.ts';
import { nodeRightsScenarios } from './scenarios/node-rights.ts';
import { nodeScenarios } from './scenarios/nodes.ts';
import { pageForManyScenarios } from './scenarios/page-for-many.ts';
import { seedScenarios } from './scenarios/seeds.ts';
import { tenantScenarios } from './scenarios/tenants.ts';
import { World } from './scenarios/world.ts';

const SCENARIOS: Readonly<Record<string, (world: World) => void>> = {
  'first-vm': firstVmScenarios,
  seeds: seedScenarios,
  looking: lookingScenarios,
  tenants: tenantScenarios,
  e2e: e2eScenarios,
  attacks: attackScenarios,
  'node-rights': nodeRightsScenarios,
  components: componentScenarios,
  nodes: nodeScenarios,
  'page-for-many': pageForManyScenarios,
  moves: moveScenarios,
};
/** In `npm run test:soak`, and by name. */
const LONG: readonly string[] = ['moves'];
/** Played at the same time, each in its order, after the first: they only use the cluster. The others are hard on it. */
const LANES: readonly (readonly string[])[] = [['seeds', 'looking', 'tenants', 'attacks', 'page-for-many'], ['e2e']];

const wanted = process.env['SCENARIOS']?.split(',') ?? Object.keys(SCENARIOS).filter((name) => !LONG.includes(name));
const unknown = wanted.find((name) => !(name in SCENARIOS));
if (unknown) throw new Error(`there are no scenarios named ${unknown}; there are ${Object.keys(SCENARIOS).join(', ')}`);

describe('the product on three nodes', { skip: nodesSkipReason() }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startProductCluster({ name: `scenarios-${process.pid}`, nodes: 3 });
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });
  const world = new World(() => cluster);
  const play = (names: readonly string[]) => {
    for (const name of names) if (wanted.includes(name)) SCENARIOS[name]?.(world);
  };
  play(['first-vm']);
  describe('scenarios beside each other', { concurrency: LANES.length }, () => {
    for (const lane of LANES) describe(lane.join(', '), { concurrency: 1 }, () => play(lane));
  });
  if (wanted.includes('e2e')) repeatedScenarios(world);
  play(['node-rights', 'components', 'nodes', 'moves']);
});
