import { MemoryBodyShelf } from '../doubles/memory-body-shelf.ts';
import { tableGround } from '../support/dynalite.ts';
import { jobSuites } from './table-suites.ts';

jobSuites('DynamoDB', tableGround, new MemoryBodyShelf());
