/**
 * What one piece of work asks of AWS, counted from the adapters' requests, and what that costs. Prices are list prices of one
 * region in US dollars, as of January 2026; change them here and run `npm run simulate` again.
 */
export const PRICES = {
  lambdaGbSecond: 0.0000133334,
  lambdaRequest: 0.2 / 1e6,
  tableWriteUnit: 0.625 / 1e6,
  tableReadUnit: 0.125 / 1e6,
  objectPut: 0.005 / 1e3,
  objectGet: 0.0004 / 1e3,
  objectGbMonth: 0.023,
  tableGbMonth: 0.25,
  queueRequest: 0.4 / 1e6,
  httpRequest: 1 / 1e6,
  /** A small model; cached input costs a tenth. Yours may differ by a factor of ten either way. */
  modelInputToken: 0.25 / 1e6,
  modelOutputToken: 2 / 1e6,
} as const;

export interface Footprint {
  readonly name: string;
  readonly lambdaGbSeconds: number;
  readonly lambdaRequests: number;
  readonly tableWriteUnits: number;
  readonly tableReadUnits: number;
  readonly objectPuts: number;
  readonly objectGets: number;
  readonly queueRequests: number;
  readonly httpRequests: number;
  readonly modelInputTokens: number;
  readonly modelOutputTokens: number;
}

/** Seconds that one extraction keeps a worker. */
export const EXTRACTION_SECONDS = 27;

/** One session from its upload to its committed output: 9,000 tokens in, 1,500 out, 27 s of a 1,769 MB function. */
export const EXTRACTION: Footprint = {
  name: 'one session extracted',
  lambdaGbSeconds: EXTRACTION_SECONDS * 1.728,
  // one that takes the upload in, one that extracts
  lambdaRequests: 2,
  // catalogue 1, wake 1, claim 1, reserve 1, settle 1, heartbeat 1, texts 3, commit 1, consolidation due 1; and the sparse
  // index follows wake, claim, heartbeat (delete and put: 2 each), commit 1, due 2
  tableWriteUnits: 11 + 9,
  tableReadUnits: 10,
  objectPuts: 1,
  objectGets: 3,
  // two messages, each sent, received and deleted
  queueRequests: 6,
  httpRequests: 1,
  modelInputTokens: 9_000,
  modelOutputTokens: 1_500,
};

/** One consolidation that takes in three sessions: four turns of a 1,769 MB function, two files and a manifest written. */
export const CONSOLIDATION: Footprint = {
  name: 'one consolidation',
  lambdaGbSeconds: 180 * 1.728,
  lambdaRequests: 1,
  tableWriteUnits: 40,
  tableReadUnits: 60,
  objectPuts: 6,
  objectGets: 40,
  queueRequests: 0,
  httpRequests: 0,
  modelInputTokens: 60_000,
  modelOutputTokens: 6_000,
};

/** `GET /v1/memory`: one request to the table (an item of 20 KB, read consistently), 5 ms of a 1,024 MB function. */
export const READ: Footprint = {
  name: 'one read of the memory',
  lambdaGbSeconds: 0.005 * 1,
  lambdaRequests: 1,
  tableWriteUnits: 0,
  tableReadUnits: 6,
  objectPuts: 0,
  objectGets: 0,
  queueRequests: 0,
  httpRequests: 1,
  modelInputTokens: 0,
  modelOutputTokens: 0,
};

/** Dollars for so many of them, the model apart from the rest. */
export function costOf(work: Footprint, times: number): { readonly aws: number; readonly model: number } {
  const aws =
    work.lambdaGbSeconds * PRICES.lambdaGbSecond +
    work.lambdaRequests * PRICES.lambdaRequest +
    work.tableWriteUnits * PRICES.tableWriteUnit +
    work.tableReadUnits * PRICES.tableReadUnit +
    work.objectPuts * PRICES.objectPut +
    work.objectGets * PRICES.objectGet +
    work.queueRequests * PRICES.queueRequest +
    work.httpRequests * PRICES.httpRequest;
  const model = work.modelInputTokens * PRICES.modelInputToken + work.modelOutputTokens * PRICES.modelOutputToken;
  return { aws: aws * times, model: model * times };
}

/** Sustained rates of AWS at which something must be done, of one account in one region. */
export const LIMITS_OF_AWS = {
  /** Highest maximum concurrency of one queue's mapping. */
  mappingConcurrency: 1_000,
  /** Default concurrent executions of an account. */
  accountConcurrency: 1_000,
  /** Write units a second of one partition of a table or index. */
  partitionWriteUnits: 1_000,
  /** Default write units a second of an on-demand table. */
  tableWriteUnits: 40_000,
} as const;
