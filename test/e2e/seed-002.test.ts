import { testSession } from './seed-session.ts';

testSession('002-virtual-machine-config.txt');
