import { DynamoDBClient, type DynamoDBClientConfig } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** ms. One item is small: an answer that takes longer than this does not come. */
const TIMEOUTS = { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true };

/**
 * The client of the table; one a process. Region, credentials and endpoint come from the environment.
 * It tries a request twice at most: retrying is the job of whoever owns the path. `undefined` never reaches the wire: an
 * attribute is left out, a part of an attribute is refused before it is sent.
 * @param given overrides, for tests
 */
export function createTableClient(given: DynamoDBClientConfig = {}): DynamoDBDocumentClient {
  return DynamoDBDocumentClient.from(new DynamoDBClient({ maxAttempts: 2, requestHandler: TIMEOUTS, ...given }), {
    marshallOptions: { removeUndefinedValues: false, convertEmptyValues: false },
  });
}
