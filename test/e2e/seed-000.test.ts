import { testSession } from './seed-session.ts';

testSession('000-virtual-machine.txt');
