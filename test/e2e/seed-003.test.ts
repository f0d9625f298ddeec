import { testSession } from './seed-session.ts';

testSession('003-offline-virtual-machine.txt');
