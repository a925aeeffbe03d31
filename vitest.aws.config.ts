import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';
import { accessOf } from './test/support/live-endpoint.ts';

/** `npm run test:aws`: the adapters and the whole path on whatever stands behind AWS_ENDPOINT_URL. */
export default defineConfig({
  test: {
    reporters: [['default', { summary: false }], new ClosingLine()],
    include: ['test/live/**/*.test.ts'],
    globalSetup: ['test/support/live-endpoint.ts'],
    env: accessOf(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
