import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { instanceTokens, reapDeadInstances, startInstance, withFileLock } from '../../local/instance.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stillroom-instance-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function reaped(): string[] {
  const ids: string[] = [];
  reapDeadInstances(folder, (id) => ids.push(id));
  return ids;
}

describe('instances', () => {
  it('are never taken for dead while they live', () => {
    const instance = startInstance(folder, 'me');
    expect(reaped()).toEqual([]);
    instance.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are not taken for dead by another process after they looked around themselves', async () => {
    const instance = startInstance(folder, 'me');
    expect(reaped()).toEqual([]);
    const module = resolve(import.meta.dirname, '../../local/instance.ts');
    const script = join(folder, 'other.ts');
    writeFileSync(
      script,
      `import { reapDeadInstances } from '${module}';
       reapDeadInstances('${folder}', (id) => process.send?.(id));
       process.send?.('done');`,
    );
    const other = fork(script, { stdio: 'inherit' });
    const [first] = await once(other, 'message');
    await once(other, 'exit');
    expect(first).toBe('done');
    instance.close();
  });

  it('are found by the next process once they were killed, once', async () => {
    const script = join(folder, 'child.ts');
    const module = resolve(import.meta.dirname, '../../local/instance.ts');
    writeFileSync(
      script,
      `import { startInstance } from '${module}';
       startInstance('${folder}', 'child'); // nothing here keeps it: it must not be collected
       globalThis.gc?.();
       process.on('disconnect', () => process.exit()); // never outlives the test
       process.send?.('up');
       setInterval(() => {}, 1000);`,
    );
    const child = fork(script, { stdio: 'inherit', execArgv: ['--expose-gc'] });
    await once(child, 'message');
    expect(reaped()).toEqual([]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(reaped()).toEqual(['child']);
    expect(reaped()).toEqual([]);
  });

  it('stay on record when their recovery failed', () => {
    writeFileSync(join(folder, 'dead.lock'), '');
    const failing = (): never => {
      throw new Error('database is gone');
    };
    expect(() => reapDeadInstances(folder, failing)).toThrow('database is gone');
    expect(reaped()).toEqual(['dead']);
  });

  it('put their name in front of their tokens', () => {
    const instance = startInstance(folder, 'me');
    expect(instanceTokens(instance, { next: () => 'abc' }).next()).toBe('me.abc');
    instance.close();
  });
});

describe('withFileLock', () => {
  it('lets one work at a time', async () => {
    const path = join(folder, 'mutex');
    const order: string[] = [];
    const work = (name: string) => async () => {
      order.push(`${name} begins`);
      await Promise.resolve();
      order.push(`${name} ends`);
    };
    await Promise.all([withFileLock(path, work('a')), withFileLock(path, work('b'))]);
    expect(order).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  });

  it('is free again after a failure', async () => {
    const path = join(folder, 'mutex');
    const failing = withFileLock(path, async () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await expect(withFileLock(path, async () => 'done')).resolves.toBe('done');
  });
});
