import { DynamoJobStore } from '../../adapters/dynamodb/job-store.ts';
import { DynamoStageOneStore } from '../../adapters/dynamodb/stage-one-store.ts';
import { MemoryBodyShelf } from '../doubles/memory-body-shelf.ts';
import { tableGround } from '../support/dynalite.ts';
import { jobStoreContract } from './job-store.contract.ts';
import { stageOneStoreContract } from './stage-one-store.contract.ts';

const shelf = new MemoryBodyShelf();
const onTable = tableGround((table) => ({
  jobs: new DynamoJobStore(table),
  outputs: new DynamoStageOneStore(table, shelf),
}));

jobStoreContract('DynamoDB', onTable);
stageOneStoreContract('DynamoDB', onTable);
