declare module 'dynalite' {
  import type { Server } from 'node:http';

  /** A DynamoDB on an HTTP server; in memory unless a path is given. Times in ms. */
  function dynalite(options?: { createTableMs?: number; deleteTableMs?: number; updateTableMs?: number }): Server;
  export = dynalite;
}
