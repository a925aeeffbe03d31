import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type Database, openDatabase } from '../../adapters/sqlite/database.ts';

/** Where stores keep what they keep: each `connect` is another connection to the same ground. */
export interface Ground<Store> {
  connect(): { readonly store: Store; close(): void };
}

/** One object for all connections: what a double in memory can offer. */
export function memoryGround<Store>(store: Store): Ground<Store> {
  return { connect: () => ({ store, close: () => {} }) };
}

const folders: string[] = [];

/** A fresh folder that is gone when the test file has ended. Call it within a test file only. */
export function makeTempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'stillroom-test-'));
  folders.push(folder);
  return folder;
}

/** A database file of its own; each connection opens it anew. */
export function sqliteGround<Store>(wire: (database: Database) => Store): Ground<Store> {
  const path = join(makeTempFolder(), 'home', 'stillroom.db');
  return {
    connect() {
      const database = openDatabase(path);
      return { store: wire(database), close: () => database.close() };
    },
  };
}

/** Runs a check with two connections to a new ground and a way to get more; closes all of them. */
export async function onGround<Store>(
  ground: Ground<Store>,
  check: (store: Store, other: Store, reopen: () => Store) => Promise<void>,
): Promise<void> {
  const open: { readonly store: Store; close(): void }[] = [];
  const connect = (): Store => {
    const connection = ground.connect();
    open.push(connection);
    return connection.store;
  };
  const closeAll = (): void => {
    for (const connection of open.splice(0)) connection.close();
  };
  const reopen = (): Store => {
    closeAll();
    return connect();
  };
  try {
    await check(connect(), connect(), reopen);
  } finally {
    closeAll();
  }
}

afterAll(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
