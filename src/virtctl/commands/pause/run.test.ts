import { testCallOfInstance } from '../../lifecycle/call-instance.testing.ts';
import { run } from './run.ts';

testCallOfInstance(run, { command: 'pause', subresource: 'pause' });
