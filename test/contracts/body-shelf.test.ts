import { S3BodyShelf } from '../../adapters/s3/body-shelf.ts';
import { MemoryBodyShelf } from '../doubles/memory-body-shelf.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { bodyShelfContract } from './body-shelf.contract.ts';

bodyShelfContract('in memory', async () => new MemoryBodyShelf());
bodyShelfContract('S3', async () => new S3BodyShelf((await FakeS3.start({ pageSize: 2 })).client, 'memories'));
