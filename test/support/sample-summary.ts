/** A memory_summary.md with global parts, two projects and older topics of both. */
export const SAMPLE_SUMMARY = `v1

## User Profile

Works on two services.

## User preferences

- Answers in German.
- Never force-push.

## General Tips

- Run the checks first.

## What's in Memory

### global

#### 2026-02-01

- Commit style: conventional, scope
  - desc: how commits are written
  - learnings: short subjects

### host/a/shop

#### 2026-03-02

- Checkout tests: jest, 数据库、redis
  - desc: Shop checkout
  - learnings: start the database first

#### 2026-01-05

- Cart rounding: cents
  - desc: Shop cart

### /work/api

#### 2026-03-01

- Rate limit: 429
  - desc: API limits

### Older Memory Topics

- Old deploy: make
  - desc: [host/a/shop] deploys before just
- Old auth: oauth
  - desc: [/work/api] first login
`;
