import { defineConfig } from 'vitest/config';
import { ClosingLine } from './test/support/closing-line.ts';

export default defineConfig({
  test: {
    reporters: [['default', { summary: false }], new ClosingLine()],
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/keep-contract.ts'],
    exclude: ['test/live/**', '**/node_modules/**'],
    maxWorkers: '100%', // the default leaves one core idle, half of a machine with two
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
