import { testSession } from './seed-session.ts';

testSession('001-virtual-machine.txt');
