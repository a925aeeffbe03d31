import { describe, expect, it } from 'vitest';
import { classifyMemoryReads } from '../../../core/memory/usage-kind.ts';

const kindsOf = (line: string) => classifyMemoryReads(line).map((read) => `${read.kind} ${read.version}`);

describe('classifyMemoryReads', () => {
  it.each([
    ['POSIX, v1', 'cat ~/.codex/memories/memory_summary.md /home/me/.codex/memories/rollout_summaries/thread.md', 'v1'],
    ['POSIX, v2', 'cat ~/.codex/memories_v2/memory_summary.md memories_v2/rollout_summaries/thread.md', 'v2'],
    [
      'Windows, v1',
      'type C:\\Users\\me\\memories\\memory_summary.md C:\\u\\memories\\rollout_summaries\\thread.md',
      'v1',
    ],
    [
      'Windows, v2',
      'Get-Content "C:\\My Files\\memories_v2\\memory_summary.md" memories_v2\\rollout_summaries\\thread.md',
      'v2',
    ],
  ])('TC-284 tells both kinds and the version: %s', (_name, line, version) => {
    expect(kindsOf(line)).toEqual([`memory_summary ${version}`, `rollout_summaries ${version}`]);
  });

  const READS = [
    'cat memories/MEMORY.md',
    "sed -n '1,20p' memories_v2/rollout_summaries/thread.md",
    'rg -n needle memories/raw_memories.md',
    'head -5 memories_v2/skills/testing/SKILL.md',
  ];

  it.each(['&&', ';', '||', '|', '\n'])('TC-285 tells every read of a line joined by %j', (joint) => {
    expect(kindsOf(READS.join(` ${joint} `))).toEqual([
      'memory_md v1',
      'rollout_summaries v2',
      'raw_memories v1',
      'skills v2',
    ]);
  });

  it.each(['python x.py', 'rm memories/MEMORY.md', 'curl host', 'FOO=1 cat a'])(
    'TC-286 counts nothing where the line holds the unknown command %j',
    (command) => {
      expect(kindsOf(`${READS.join(' && ')} && ${command}`)).toEqual([]);
      expect(kindsOf(`${command}; ${READS.join(' && ')}`)).toEqual([]);
    },
  );

  it.each([
    'ls memories/skills/',
    'find memories/rollout_summaries/ -name x',
    'rg --files memories/skills/',
    'grep -l x memories/MEMORY.md',
    'sed -i s/a/b/ memories/MEMORY.md',
    'cat memories/MEMORY.md > memories/raw_memories.md',
    'cat $(echo memories/MEMORY.md)',
    'cat "memories/MEMORY.md',
    'cat notes/MEMORY.md',
    '',
  ])('counts nothing for %j', (line) => {
    expect(kindsOf(line)).toEqual([]);
  });

  it('counts a read beside a listing', () => {
    expect(kindsOf('cd /x && ls memories/skills/ && cat memories/MEMORY.md | head -3')).toEqual(['memory_md v1']);
  });

  it('takes the first kind that a path contains', () => {
    expect(kindsOf('cat memories/skills/memories/MEMORY.md')).toEqual(['memory_md v1']);
  });
});
