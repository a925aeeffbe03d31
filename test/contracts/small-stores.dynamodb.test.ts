import { tableGround } from '../support/dynalite.ts';
import { smallStoreSuites } from './table-suites.ts';

smallStoreSuites('DynamoDB', tableGround);
