import { beforeAll } from 'vitest';
import { S3BodyShelf } from '../../adapters/s3/body-shelf.ts';
import { jobSuites } from '../contracts/table-suites.ts';
import { liveBuckets } from '../support/live-buckets.ts';
import { liveTableGround } from '../support/live-table.ts';

const buckets = liveBuckets();
let shelf: S3BodyShelf | undefined;
beforeAll(async () => {
  shelf = new S3BodyShelf(buckets.client, await buckets.make());
});

function opened(): S3BodyShelf {
  if (shelf === undefined) throw new Error('the shelf is there inside of tests');
  return shelf;
}

jobSuites('DynamoDB over the wire', liveTableGround, {
  put: (...given) => opened().put(...given),
  get: (...given) => opened().get(...given),
  remove: (...given) => opened().remove(...given),
  list: (...given) => opened().list(...given),
});
