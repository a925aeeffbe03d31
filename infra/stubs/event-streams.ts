/**
 * Takes the place of `@smithy/core/event-streams` in the bundles: S3 and Lambda offer operations that answer with a stream of
 * events (S3 Select, streamed invocations), and we call none of them.
 */
export function eventStreamSerdeProvider(): object {
  return {};
}

/** The clients pass their configuration through it. */
export function resolveEventStreamSerdeConfig<Config>(config: Config): Config {
  return config;
}

/** Made only for an operation with a stream of events. */
export class EventStreamSerde {
  constructor() {
    throw new Error('streams of events are left out of the bundles');
  }
}
