import { testGuestInfo } from '../../guest-info/show.testing.ts';
import { run } from './run.ts';

testGuestInfo(run, 'filesystemlist');
