import type { Hono } from 'hono';
import { vi } from 'vitest';

/**
 * Set up before every test file: whatever app a test makes, its answers are checked against the published document, so that
 * a test which sees a break of it fails, whatever it was written for.
 */
vi.mock('../../functions/http/create-app.ts', async (importOriginal) => {
  const original = await importOriginal<typeof import('../../functions/http/create-app.ts')>();
  return {
    ...original,
    createApp: (options: Parameters<typeof original.createApp>[0]): Hono => watched(original.createApp(options)),
  };
});

function watched(app: Hono): Hono {
  const fetch = app.fetch;
  app.fetch = async (request, ...rest) => {
    const answer = await fetch(request, ...rest);
    const { checkAnswer } = await import('./published-contract.ts');
    await checkAnswer(request, answer);
    return answer;
  };
  const ask = app.request;
  app.request = async (input, init, ...rest) => {
    const answer = await ask(input, init, ...rest);
    const { checkAnswer } = await import('./published-contract.ts');
    const request =
      input instanceof Request ? input : new Request(new URL(String(input), 'http://localhost'), bodiless(init));
    await checkAnswer(request, answer);
    return answer;
  };
  return app;
}

function bodiless(init: RequestInit | undefined): RequestInit {
  return init?.method === undefined ? {} : { method: init.method };
}
