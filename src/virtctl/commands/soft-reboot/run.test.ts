import { testCallOfInstance } from '../../lifecycle/call-subresource.testing.ts';
import { run } from './run.ts';

testCallOfInstance(run, { command: 'soft-reboot', subresource: 'softreboot' });
