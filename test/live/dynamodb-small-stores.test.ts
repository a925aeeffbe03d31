import { smallStoreSuites } from '../contracts/table-suites.ts';
import { liveTableGround } from '../support/live-table.ts';

smallStoreSuites('DynamoDB over the wire', liveTableGround);
